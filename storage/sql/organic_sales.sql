-- How many sales of customers whom no partner sent were reported since a time, among a program's newest rejected calls.
SELECT COUNT(*) AS sales
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
    AND refused_calls.call = 'sale'
    AND refused_calls.code = 'customer_not_found'
