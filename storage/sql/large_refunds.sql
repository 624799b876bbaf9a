-- The rejected refunds of more than their sales since a time, the largest first.
SELECT
    refused_calls.at, refused_calls.transaction_id, refused_calls.amount_cents, sales.amount_cents AS sale_cents,
    CAST(refused_calls.amount_cents AS double precision) / NULLIF(sales.amount_cents, 0) AS times
FROM refused_calls
JOIN sales ON sales.program_id = refused_calls.program_id AND sales.transaction_id = refused_calls.transaction_id
WHERE refused_calls.program_id = :program_id
    AND refused_calls.id >= :since_id
    AND refused_calls.call = 'refund'
    AND refused_calls.amount_cents > sales.amount_cents
ORDER BY times DESC, refused_calls.id
LIMIT 5
