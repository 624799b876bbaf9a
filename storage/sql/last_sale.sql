-- When the customers of a partner last bought something.
SELECT MAX(sales.occurred_at) AS sold_at
FROM sales
WHERE sales.program_id = :program_id AND sales.partner_id = :partner_id
