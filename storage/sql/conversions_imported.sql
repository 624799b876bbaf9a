-- The first purchases in a window that an import reported: of the program's customers, or of one partner's.
SELECT COUNT(*) AS conversions
FROM sales
JOIN customers
    ON customers.program_id = sales.program_id
    AND customers.id = sales.customer_id
    AND customers.first_purchase_at = sales.occurred_at
JOIN clicks ON clicks.program_id = customers.program_id AND clicks.click_id = customers.click_id
WHERE sales.program_id = :program_id
    AND sales.id >= :first_id
    AND sales.occurred_at BETWEEN :since AND :last
    AND sales.provenance = 'operator'
    AND clicks.filtered = 'import'
    AND (:partner_id IS NULL OR customers.partner_id = :partner_id)
