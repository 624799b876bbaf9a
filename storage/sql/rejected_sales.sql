-- A program's newest rejected sales and refunds in a span, each with the recorded sale of its transaction_id, and whether
-- that has a refund of as much.
SELECT
    refused_calls.call, refused_calls.code, refused_calls.fields, refused_calls.customer_key, refused_calls.click_id,
    refused_calls.transaction_id, refused_calls.request_id, refused_calls.amount_cents, refused_calls.currency,
    refused_calls.same_payload, sales.id AS sale_id, sales.currency AS sale_currency,
    EXISTS (
        SELECT 1
        FROM refunds
        WHERE refunds.program_id = :program_id
            AND refunds.sale_id = sales.id
            AND refunds.amount_cents = refused_calls.amount_cents
    ) AS is_refunded
FROM refused_calls
LEFT JOIN sales ON sales.program_id = refused_calls.program_id AND sales.transaction_id = refused_calls.transaction_id
WHERE refused_calls.program_id = :program_id
    AND refused_calls.call IN ('sale', 'refund')
    AND refused_calls.id >= :since_id
    AND refused_calls.at >= :since
    AND refused_calls.at < :until
ORDER BY refused_calls.id DESC
LIMIT :most
