-- Differences, on every database: each row says what differs, where, what is stored and what it should be.

-- The partners who do not exist but have clicks.
SELECT
    'clicks without a partner' AS what, clicks.program_id, clicks.partner_id, COUNT(*) AS stored, 0 AS recomputed
FROM clicks
LEFT JOIN partners ON partners.program_id = clicks.program_id AND partners.id = clicks.partner_id
WHERE partners.id IS NULL
GROUP BY clicks.program_id, clicks.partner_id;

-- The customers whose status does not follow from the number of their sales; 1: they have converted.
SELECT 'conversion status' AS what, program_id, customer_id, stored, recomputed
FROM (
    SELECT
        customers.program_id, customers.id AS customer_id,
        CASE WHEN customers.status = 'conversion' THEN 1 ELSE 0 END AS stored,
        CASE WHEN COUNT(sales.id) > 0 THEN 1 ELSE 0 END AS recomputed
    FROM customers
    LEFT JOIN sales ON sales.program_id = customers.program_id AND sales.customer_id = customers.id
    GROUP BY customers.program_id, customers.id, customers.status
) AS of_customers
WHERE stored <> recomputed;

-- The customers whose first purchase is the time of none of their sales; 0: there is none.
SELECT 'first purchase in milliseconds' AS what, program_id, customer_id, stored, recomputed
FROM (
    SELECT
        customers.program_id, customers.id AS customer_id,
        COALESCE(customers.first_purchase_at, 0) AS stored, COALESCE(MIN(sales.occurred_at), 0) AS recomputed,
        COUNT(CASE WHEN sales.occurred_at = customers.first_purchase_at THEN 1 END) AS same_time
    FROM customers
    LEFT JOIN sales ON sales.program_id = customers.program_id AND sales.customer_id = customers.id
    GROUP BY customers.program_id, customers.id, customers.first_purchase_at
) AS of_customers
WHERE stored <> recomputed AND same_time = 0;

-- The partners whose row names other special terms than those in force for them or their group; 0: none.
SELECT 'special terms in force' AS what, program_id, partner_id, stored, recomputed
FROM (
    SELECT
        partners.program_id, partners.id AS partner_id, COALESCE(partners.terms_version, 0) AS stored,
        COALESCE(
            (
                SELECT terms.version
                FROM commission_terms AS terms
                WHERE terms.program_id = partners.program_id AND terms.ended_at IS NULL
                    AND terms.partner_id = partners.id
            ),
            (
                SELECT terms.version
                FROM commission_terms AS terms
                WHERE terms.program_id = partners.program_id AND terms.ended_at IS NULL
                    AND terms.partner_group = partners.partner_group
            ),
            0
        ) AS recomputed
    FROM partners
) AS of_partners
WHERE stored <> recomputed;

-- What lines froze, by the commissions that are in them.
SELECT
    'approved_cents' AS what, line.program_id, line.payout_id, line.partner_id,
    line.approved_cents AS stored, COALESCE(SUM(item.net_cents), 0) AS recomputed
FROM payout_lines AS line
LEFT JOIN payout_items AS item
    ON item.program_id = line.program_id AND item.payout_id = line.payout_id AND item.partner_id = line.partner_id
    AND item.is_live
WHERE line.state IN ('open', 'paid')
GROUP BY line.program_id, line.payout_id, line.partner_id, line.approved_cents
HAVING line.approved_cents <> COALESCE(SUM(item.net_cents), 0);

SELECT
    'commissions' AS what, line.program_id, line.payout_id, line.partner_id,
    line.commissions AS stored, COUNT(item.commission_id) AS recomputed
FROM payout_lines AS line
LEFT JOIN payout_items AS item
    ON item.program_id = line.program_id AND item.payout_id = line.payout_id AND item.partner_id = line.partner_id
    AND item.is_live
WHERE line.state IN ('open', 'paid')
GROUP BY line.program_id, line.payout_id, line.partner_id, line.commissions
HAVING line.commissions <> COUNT(item.commission_id);

-- What lines pay, by its parts.
SELECT
    'to_pay_cents' AS what, program_id, payout_id, partner_id,
    to_pay_cents AS stored, approved_cents - set_off_cents + adjusted_cents AS recomputed
FROM payout_lines
WHERE to_pay_cents <> approved_cents - set_off_cents + adjusted_cents;

-- What the ledger says that each partner was paid in a payout, by the lines.
SELECT
    'paid by the ledger' AS what, program_id, payout_id, partner_id,
    SUM(stored) AS stored, SUM(recomputed) AS recomputed
FROM (
    SELECT program_id, payout_id, partner_id, 0 AS stored, to_pay_cents AS recomputed
    FROM payout_lines WHERE state IN ('paid', 'correction')
    UNION ALL
    SELECT program_id, payout_id, partner_id, -amount_cents AS stored, 0 AS recomputed
    FROM ledger_entries WHERE payout_id IS NOT NULL
) AS paid
GROUP BY program_id, payout_id, partner_id
HAVING SUM(stored) <> SUM(recomputed);

-- A commission is in one payout at most, and paid if that one was sent.
SELECT
    'payouts of one commission' AS what, program_id, MAX(payout_id) AS payout_id, MAX(partner_id) AS partner_id,
    COUNT(*) AS stored, 1 AS recomputed
FROM payout_items WHERE is_live
GROUP BY program_id, commission_id
HAVING COUNT(*) > 1;

-- Citus 13 takes the columns of a HAVING over two joins from the wrong table, so this compares outside.
SELECT 'commissions that are paid' AS what, program_id, payout_id, partner_id, stored, recomputed
FROM (
    SELECT
        item.program_id, item.payout_id, item.partner_id,
        COUNT(*) AS stored, COUNT(CASE WHEN commissions.status = 'paid' THEN 1 END) AS recomputed
    FROM payout_items AS item
    JOIN payouts ON payouts.program_id = item.program_id AND payouts.id = item.payout_id AND payouts.state = 'sent'
    JOIN commissions ON commissions.program_id = item.program_id AND commissions.id = item.commission_id
    WHERE item.is_live
    GROUP BY item.program_id, item.payout_id, item.partner_id
) AS paid
WHERE stored <> recomputed
