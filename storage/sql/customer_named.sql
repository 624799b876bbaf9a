-- The customers of a program whom an identifier names: an id, a key, a click or a sale.
SELECT customers.id
FROM customers
WHERE customers.program_id = :program_id
    AND (
        customers.id = :customer_id
        OR customers.customer_key = :customer_key
        OR customers.known_as = :customer_key
        OR customers.click_id = :click_id
    )
UNION ALL
SELECT sales.customer_id
FROM sales
WHERE sales.program_id = :program_id AND sales.transaction_id = :transaction_id
