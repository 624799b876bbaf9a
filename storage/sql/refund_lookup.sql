-- Locks sales with their commissions, in the order in which every transaction locks them.
WITH sold AS (
    SELECT
        sales.program_id, sales.id, sales.transaction_id, sales.partner_id, sales.amount_cents, sales.program_cents,
        sales.refunded_cents, sales.occurred_at
    FROM jsonb_to_recordset(:rows) AS call (program_id bigint, transaction_id varchar(255))
    JOIN sales ON sales.program_id = call.program_id AND sales.transaction_id = call.transaction_id
    ORDER BY sales.program_id, sales.transaction_id
    FOR UPDATE OF sales
),
earned AS (
    SELECT
        commissions.program_id, commissions.id, commissions.sale_id, commissions.partner_id,
        commissions.amount_cents, commissions.status, commissions.created_at
    FROM sold
    JOIN commissions ON commissions.program_id = sold.program_id AND commissions.sale_id = sold.id
    ORDER BY commissions.program_id, commissions.id
    FOR UPDATE OF commissions
)
SELECT
    sold.program_id, sold.id, sold.transaction_id, sold.partner_id, sold.amount_cents, sold.program_cents,
    sold.refunded_cents, sold.occurred_at, earned.id AS commission_id, earned.amount_cents AS commission_cents,
    earned.status AS commission_status, earned.created_at AS commission_at
FROM sold
LEFT JOIN earned ON earned.program_id = sold.program_id AND earned.sale_id = sold.id
