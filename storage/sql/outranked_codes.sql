-- The codes of the partners whose customers' browsers sent leads, for other clicks, that a customer's call outranks.
SELECT partners.code
FROM leads
JOIN partners ON partners.program_id = leads.program_id AND partners.id = leads.partner_id
WHERE leads.program_id = :program_id AND leads.outranked_by = :customer_id
ORDER BY leads.id
LIMIT :most
