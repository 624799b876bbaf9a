-- The error codes of a program's newest rejected calls in a span, the most frequent first; without sales of customers
-- whom no partner sent.
SELECT refused_calls.code, COUNT(*) AS calls, MIN(refused_calls.at) AS first_at, MAX(refused_calls.at) AS last_at
FROM refused_calls
WHERE refused_calls.program_id = :program_id
    AND refused_calls.id > COALESCE(
        (
            SELECT newest.id
            FROM refused_calls AS newest
            WHERE newest.program_id = :program_id
            ORDER BY newest.id DESC
            LIMIT 1 OFFSET :most
        ),
        0
    )
    AND refused_calls.id >= :since_id
    AND refused_calls.at >= :since
    AND refused_calls.at < :until
    AND NOT (refused_calls.call = 'sale' AND refused_calls.code = 'customer_not_found')
GROUP BY refused_calls.code
ORDER BY COUNT(*) DESC, refused_calls.code
