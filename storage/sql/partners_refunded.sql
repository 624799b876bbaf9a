-- The refunds that were made in a window, by the partner who sent the customer.
SELECT
    sales.partner_id,
    COUNT(*) AS refunds,
    SUM(refunds.program_cents) AS refunded_cents,
    SUM(refunds.reversed_cents) AS reversed_cents
FROM refunds
JOIN sales ON sales.program_id = refunds.program_id AND sales.id = refunds.sale_id
WHERE refunds.program_id = :program_id
    AND refunds.id >= :first_id
    AND refunds.at BETWEEN :since AND :last
    AND refunds.amount_cents <> 0
GROUP BY sales.partner_id
ORDER BY sales.partner_id
