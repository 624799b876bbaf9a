-- A partner of a program, as their portal calls them.
SELECT partners.name, partners.email, programs.name AS program
FROM partners
JOIN programs ON programs.id = partners.program_id
WHERE partners.program_id = :program_id AND partners.id = :partner_id
