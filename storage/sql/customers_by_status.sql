-- How many customers a partner sent, by their status.
SELECT customers.status, COUNT(*) AS customers
FROM customers
WHERE customers.program_id = :program_id AND customers.partner_id = :partner_id
GROUP BY customers.status
