-- The customer keys of a program's newest sales, newest first, and those that their customers carry.
SELECT sales.customer_key, customers.customer_key AS carried
FROM sales
JOIN customers ON customers.program_id = sales.program_id AND customers.id = sales.customer_id
WHERE sales.program_id = :program_id AND sales.customer_key IS NOT NULL
ORDER BY sales.id DESC
LIMIT :most
