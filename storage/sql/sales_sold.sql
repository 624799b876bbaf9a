-- The sales that were made in a window, by partner or of one, and what became of them since: all, those that were
-- refunded in part or wholly, and the latter alone.
SELECT
    sales.partner_id,
    COUNT(*) AS sales,
    SUM(sales.program_cents) AS cents,
    COUNT(*) FILTER (WHERE sales.refunded_cents > 0) AS refunded_sales,
    SUM(
        CASE
            WHEN sales.refunded_cents > 0 THEN (
                SELECT SUM(refunds.program_cents)
                FROM refunds
                WHERE refunds.program_id = sales.program_id AND refunds.sale_id = sales.id
            )
            ELSE 0
        END
    ) AS refunded_cents,
    COUNT(*) FILTER (WHERE sales.refunded_cents = sales.amount_cents) AS wholly_refunded_sales,
    SUM(CASE WHEN sales.refunded_cents = sales.amount_cents THEN sales.program_cents ELSE 0 END)
        AS wholly_refunded_cents
FROM sales
WHERE sales.program_id = :program_id
    AND sales.id >= :first_id
    AND sales.occurred_at BETWEEN :since AND :last
    AND (:partner_id IS NULL OR sales.partner_id = :partner_id)
GROUP BY sales.partner_id
