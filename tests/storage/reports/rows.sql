-- Each row that reports count, with what it counts for (`name`, `n`), whose it is, when, and what it carries.
WITH buyer AS (
  SELECT c.*, k.dimensions, k.referrer_host, COALESCE(c.signup_at, c.created_at) AS joined
  FROM customers c LEFT JOIN clicks k ON k.program_id = c.program_id AND k.click_id = c.click_id
), bought AS (
  SELECT s.*, c.dimensions, c.referrer_host, c.joined, c.first_purchase_at,
    (SELECT m.terms_version FROM commissions m WHERE m.program_id = s.program_id AND m.sale_id = s.id) AS terms
  FROM sales s JOIN buyer c ON c.program_id = s.program_id AND c.id = s.customer_id
)
SELECT 'clicks' AS name, partner_id AS whose, at AS millis, 1 AS n, dimensions, referrer_host,
  CAST(NULL AS BIGINT) AS joined, CAST(NULL AS BIGINT) AS bought_first,
  CAST(NULL AS TEXT) AS details, CAST(NULL AS BIGINT) AS terms, CAST(NULL AS BIGINT) AS sold
FROM clicks WHERE filtered IS NULL
UNION ALL
SELECT 'leads', partner_id, signup_at, 1, dimensions, referrer_host, joined, first_purchase_at, NULL, NULL, NULL
FROM buyer WHERE signup_at IS NOT NULL AND status <> 'provisional'
UNION ALL
SELECT 'conversions', partner_id, first_purchase_at, 1, dimensions, referrer_host, joined, first_purchase_at, NULL, NULL, NULL
FROM buyer WHERE status = 'conversion'
UNION ALL
SELECT 'sales', partner_id, occurred_at, 1, dimensions, referrer_host, joined, first_purchase_at, details, terms, occurred_at
FROM bought WHERE refunded_cents <> amount_cents
UNION ALL
SELECT 'revenue_cents', partner_id, occurred_at, program_cents - COALESCE((SELECT SUM(r.program_cents) FROM refunds r
    WHERE r.program_id = bought.program_id AND r.sale_id = bought.id), 0),
  dimensions, referrer_host, joined, first_purchase_at, details, terms, occurred_at
FROM bought
UNION ALL
SELECT 'refunded_cents', b.partner_id, b.occurred_at, r.program_cents, b.dimensions, b.referrer_host, b.joined,
  b.first_purchase_at, b.details, b.terms, b.occurred_at
FROM refunds r JOIN bought b ON b.program_id = r.program_id AND b.id = r.sale_id
UNION ALL
SELECT 'commission_cents', e.partner_id, m.created_at, e.amount_cents, c.dimensions, c.referrer_host, c.joined,
  c.first_purchase_at, s.details, m.terms_version, s.occurred_at
FROM ledger_entries e JOIN commissions m ON m.program_id = e.program_id AND m.id = e.commission_id
LEFT JOIN sales s ON s.program_id = m.program_id AND s.id = m.sale_id
JOIN buyer c ON c.program_id = m.program_id AND c.id = m.customer_id
WHERE e.kind IN ('commission', 'reversal', 'reinstatement', 'rejection')
