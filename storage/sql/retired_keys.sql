-- When the last two keys that a program had before were replaced, the last one first; and when people said one leaked.
SELECT retired_program_keys.retired_at, retired_program_keys.leaked_at
FROM retired_program_keys
WHERE retired_program_keys.program_id = :program_id
ORDER BY retired_program_keys.retired_at DESC
LIMIT 2
