-- The newest keys of a program's customers: of those with a lead that was sent with the program key, or of all.
SELECT customer_key
FROM customers
WHERE program_id = :program_id
    AND customer_key IS NOT NULL
    AND (
        NOT :with_key
        OR EXISTS (
            SELECT 1
            FROM leads
            WHERE leads.program_id = :program_id AND leads.customer_id = customers.id AND leads.with_key
        )
    )
ORDER BY id DESC
LIMIT :most
