-- How many events of a program were rejected because of its key; the first and the last of them.
SELECT COUNT(*) AS calls, MIN(refused_calls.at) AS first_at, MAX(refused_calls.at) AS last_at
FROM refused_calls
WHERE refused_calls.program_id = :program_id
    AND refused_calls.code IN ('invalid_key', 'api_key_rotation_required')
    AND refused_calls.call IN ('click', 'lead', 'sale', 'refund')
