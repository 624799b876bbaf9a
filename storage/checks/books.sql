-- What `books.py` recomputes from the events, on every database: each kind of them by program, partner and UTC day.
-- Times are milliseconds, days are counted from 1970.

SELECT program_id, partner_id, at / 86400000 AS day, COUNT(*) AS clicks
FROM clicks
WHERE filtered IS NULL
GROUP BY program_id, partner_id, at / 86400000;

SELECT program_id, partner_id, signup_at / 86400000 AS day, COUNT(*) AS leads
FROM customers
WHERE signup_at IS NOT NULL AND status IN ('lead', 'conversion')
GROUP BY program_id, partner_id, signup_at / 86400000;

SELECT program_id, partner_id, first_purchase_at / 86400000 AS day, COUNT(*) AS conversions
FROM customers
WHERE first_purchase_at IS NOT NULL AND status = 'conversion'
GROUP BY program_id, partner_id, first_purchase_at / 86400000;

-- Sales and revenue net of refunds, by the day of the sale; a fully refunded sale does not count.
SELECT
    sales.program_id, sales.partner_id, sales.occurred_at / 86400000 AS day,
    SUM(CASE WHEN COALESCE(back.cents, 0) = sales.amount_cents THEN 0 ELSE 1 END) AS sales,
    SUM(sales.program_cents - COALESCE(back.program_cents, 0)) AS revenue_cents
FROM sales
LEFT JOIN (
    SELECT program_id, sale_id, SUM(amount_cents) AS cents, SUM(program_cents) AS program_cents
    FROM refunds
    GROUP BY program_id, sale_id
) AS back ON back.program_id = sales.program_id AND back.sale_id = sales.id
GROUP BY sales.program_id, sales.partner_id, sales.occurred_at / 86400000;

-- Commission net of its reversals, by the day the commission was created.
SELECT
    commissions.program_id, commissions.partner_id, commissions.created_at / 86400000 AS day,
    SUM(ledger_entries.amount_cents) AS commission_cents
FROM commissions
JOIN ledger_entries
    ON ledger_entries.program_id = commissions.program_id AND ledger_entries.commission_id = commissions.id
    AND ledger_entries.kind IN ('commission', 'reversal', 'reinstatement', 'rejection')
GROUP BY commissions.program_id, commissions.partner_id, commissions.created_at / 86400000;

SELECT program_id, id AS partner_id, created_at / 86400000 AS day, COUNT(*) AS partners
FROM partners
GROUP BY program_id, id, created_at / 86400000
