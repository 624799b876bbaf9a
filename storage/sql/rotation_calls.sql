-- The calls that came with a program's old key since it was replaced, and how many of those that are kept wait.
SELECT
    (
        SELECT MAX(refused_calls.at)
        FROM refused_calls
        WHERE refused_calls.program_id = :program_id
            AND refused_calls.code = 'invalid_key'
            AND refused_calls.at >= :since
    ) AS last_seen_at,
    (
        SELECT COUNT(*)
        FROM kept_calls
        WHERE kept_calls.program_id = :program_id AND kept_calls.code = 'invalid_key' AND kept_calls.at >= :since
    ) AS kept,
    (
        SELECT COUNT(*)
        FROM kept_calls
        WHERE kept_calls.program_id = :program_id AND kept_calls.state = 'waiting'
    ) AS waiting
