-- The partners of a program, with their groups.
SELECT partners.id, partners.name, partners.code, partners.partner_group
FROM partners
WHERE partners.program_id = :program_id
