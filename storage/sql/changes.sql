-- The next changes of a program after a number, of those that are not too old.
SELECT
    changes.seq, changes.at, changes.kind, NULLIF(changes.label, '') AS label, changes.number, changes.cents,
    changes.ids
FROM changes
WHERE changes.program_id = :program_id AND changes.seq > :seq AND changes.at >= :since
ORDER BY changes.seq
LIMIT :most
