-- Some keys of a program's rejected sales, each with the key of the customer whom its recorded sale, or later its click
-- proves.
SELECT customer_key, carried
FROM (
    SELECT refused_calls.customer_key, customers.customer_key AS carried, 1 AS place
    FROM refused_calls
    JOIN sales ON sales.program_id = refused_calls.program_id AND sales.transaction_id = refused_calls.transaction_id
    JOIN customers ON customers.program_id = sales.program_id AND customers.id = sales.customer_id
    WHERE refused_calls.program_id = :program_id AND refused_calls.call = 'sale' AND refused_calls.customer_key IN :keys
    UNION ALL
    SELECT refused_calls.customer_key, customers.customer_key, 2
    FROM refused_calls
    JOIN customers ON customers.program_id = refused_calls.program_id AND customers.click_id = refused_calls.click_id
    WHERE refused_calls.program_id = :program_id AND refused_calls.call = 'sale' AND refused_calls.customer_key IN :keys
) AS meant
WHERE carried <> ''
ORDER BY place
