-- The next settled leads of a program since a time, each with its customer's click and partner, and what it earned.
SELECT
    leads.*, customers.click_id, customers.clicked_at, customers.created_at, customers.signup_at,
    customers.first_purchase_at, partners.status, commissions.amount_cents AS earned_cents,
    commissions.terms_version, commissions.status AS earned_status, commissions.hold_until
FROM leads
JOIN customers ON customers.program_id = leads.program_id AND customers.id = leads.customer_id
JOIN partners ON partners.program_id = leads.program_id AND partners.id = leads.partner_id
LEFT JOIN commissions ON commissions.program_id = leads.program_id AND commissions.lead_id = leads.id
WHERE leads.program_id = :program_id AND leads.id >= :since_id AND leads.at >= :since AND leads.settlement = 'settled'
ORDER BY leads.id
LIMIT :most
