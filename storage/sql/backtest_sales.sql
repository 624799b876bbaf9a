-- The next sales of a program since a time, each with its customer's click and first purchase, and what it earned.
SELECT
    sales.*, customers.click_id, customers.clicked_at, customers.created_at, customers.signup_at,
    customers.first_purchase_at, commissions.amount_cents AS earned_cents, commissions.terms_version,
    commissions.status AS earned_status, commissions.hold_until
FROM sales
JOIN customers ON customers.program_id = sales.program_id AND customers.id = sales.customer_id
LEFT JOIN commissions ON commissions.program_id = sales.program_id AND commissions.sale_id = sales.id
WHERE sales.program_id = :program_id AND sales.id >= :since_id AND sales.occurred_at >= :since
ORDER BY sales.id
LIMIT :most
