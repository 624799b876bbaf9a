-- The number of a program's last change.
SELECT change_counters.seq FROM change_counters WHERE change_counters.program_id = :program_id
