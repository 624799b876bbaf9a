-- The first commission that each customer earned; commissions are found by their sales and leads.
SELECT earned.customer_id, MIN(earned.commission_id) AS commission_id
FROM (
    SELECT sales.customer_id, commissions.id AS commission_id
    FROM sales
    JOIN commissions ON commissions.program_id = sales.program_id AND commissions.sale_id = sales.id
    WHERE sales.program_id = :program_id AND sales.customer_id IN :customer_ids
    UNION ALL
    SELECT leads.customer_id, commissions.id AS commission_id
    FROM leads
    JOIN commissions ON commissions.program_id = leads.program_id AND commissions.lead_id = leads.id
    WHERE leads.program_id = :program_id AND leads.customer_id IN :customer_ids
) AS earned
GROUP BY earned.customer_id
