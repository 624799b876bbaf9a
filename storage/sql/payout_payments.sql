-- What a payout pays, without what failed or pays nothing; details of methods are encrypted.
SELECT
    line.id AS line_id, partners.name AS partner_name, partners.code AS partner_code, line.to_pay_cents AS cents,
    line.method, line.method_sealed AS sealed
FROM payout_lines AS line
JOIN partners ON partners.program_id = line.program_id AND partners.id = line.partner_id
WHERE
    line.program_id = :program_id AND line.payout_id = :payout_id AND line.state IN ('open', 'paid')
    AND line.to_pay_cents > 0
ORDER BY line.id
