-- The line that a statement is of, its partner's address, and why its payment came back, if it did.
SELECT line.id, partners.email, returned.failure
FROM payout_lines AS line
JOIN partners ON partners.program_id = line.program_id AND partners.id = line.partner_id
LEFT JOIN payout_lines AS returned ON returned.program_id = line.program_id AND returned.corrects_id = line.id
WHERE line.program_id = :program_id AND line.number = :statement_number
