-- The names and codes of partners.
SELECT partners.id, partners.name, partners.code
FROM partners
WHERE partners.program_id = :program_id AND partners.id IN :partner_ids
