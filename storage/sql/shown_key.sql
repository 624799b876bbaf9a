-- When a program's key was made, if its value was shown: a program is created with a hidden one.
SELECT program_keys.created_at
FROM program_keys
WHERE program_keys.program_id = :program_id
    AND EXISTS (SELECT 1 FROM retired_program_keys AS old WHERE old.program_id = program_keys.program_id)
