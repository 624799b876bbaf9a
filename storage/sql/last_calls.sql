-- When a program's key was last called with, a minute behind, and when its last call was rejected.
SELECT
    (SELECT MAX(key_callers.last_at) FROM key_callers WHERE key_callers.program_id = :program_id) AS called_at,
    (
        SELECT refused_calls.at
        FROM refused_calls
        WHERE refused_calls.program_id = :program_id
        ORDER BY refused_calls.id DESC LIMIT 1
    ) AS rejected_at
