-- The sales with a transaction_id, and those that a payment processor is likely to have reported for the same payment.
SELECT
    report.transaction_id AS reported_id, sales.program_id, sales.transaction_id, sales.id, sales.at,
    sales.customer_id, sales.amount_cents, sales.currency, 0 AS is_likely
FROM jsonb_to_recordset(:rows) AS report (
    program_id bigint, transaction_id text, customer_id bigint, amount_cents bigint, currency text,
    earliest bigint, latest bigint
)
JOIN sales ON sales.program_id = report.program_id AND sales.transaction_id = report.transaction_id
UNION ALL
SELECT
    report.transaction_id AS reported_id, sales.program_id, sales.transaction_id, sales.id, sales.at,
    sales.customer_id, sales.amount_cents, sales.currency, 1 AS is_likely
FROM jsonb_to_recordset(:rows) AS report (
    program_id bigint, transaction_id text, customer_id bigint, amount_cents bigint, currency text,
    earliest bigint, latest bigint
)
JOIN sales
    ON sales.program_id = report.program_id
    AND sales.customer_id = report.customer_id
    AND sales.amount_cents = report.amount_cents
    AND sales.currency = report.currency
    AND sales.occurred_at BETWEEN report.earliest AND report.latest
    AND sales.transaction_id <> report.transaction_id
WHERE EXISTS (
    SELECT 1
    FROM payment_references
    WHERE payment_references.program_id = sales.program_id
        AND payment_references.transaction_id = sales.transaction_id
        AND payment_references.program_id = report.program_id
)
