-- The click of the customer who bought by the sale that a payment's name refers to, or else by the sale of that id; and
-- that of the processor's customer of that name.
SELECT sold.name, customers.click_id, sold.place
FROM (
    SELECT sales.transaction_id AS name, sales.customer_id, 1 AS place
    FROM sales
    WHERE sales.program_id = :program_id AND sales.transaction_id IN :names
    UNION ALL
    SELECT payment_references.reference AS name, sales.customer_id, 2 AS place
    FROM payment_references
    JOIN sales
        ON sales.program_id = payment_references.program_id
        AND sales.transaction_id = payment_references.transaction_id
    WHERE payment_references.program_id = :program_id AND payment_references.reference IN :names
) AS sold
JOIN customers ON customers.id = sold.customer_id
WHERE customers.program_id = :program_id
UNION ALL
SELECT payment_customers.processor_customer AS name, payment_customers.click_id, 3 AS place
FROM payment_customers
WHERE payment_customers.program_id = :program_id AND payment_customers.processor_customer IN :names
ORDER BY place
