-- The commissions on a customer's sales and leads, oldest first.
SELECT commissions.id
FROM commissions
WHERE commissions.program_id = :program_id
    AND (
        commissions.sale_id IN (
            SELECT sales.id FROM sales WHERE sales.program_id = :program_id AND sales.customer_id = :customer_id
        )
        OR commissions.lead_id IN (
            SELECT leads.id FROM leads WHERE leads.program_id = :program_id AND leads.customer_id = :customer_id
        )
    )
ORDER BY commissions.id
