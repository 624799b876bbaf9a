-- The partners of a group.
SELECT partners.id
FROM partners
WHERE partners.program_id = :program_id AND partners.partner_group = :group
