-- Who paid each of these recorded sales; a renewal is not their first purchase.
SELECT
    sales.transaction_id, customers.id, customers.customer_key,
    sales.occurred_at > customers.first_purchase_at AS is_renewal
FROM sales
JOIN customers ON customers.program_id = sales.program_id AND customers.id = sales.customer_id
WHERE sales.program_id = :program_id AND sales.transaction_id IN :transaction_ids
