-- The amounts of the sales that earned commissions, in cents of the program's currency, if its partners see them.
SELECT commissions.id, sales.program_cents
FROM commissions
JOIN sales ON sales.program_id = commissions.program_id AND sales.id = commissions.sale_id
JOIN programs ON programs.id = commissions.program_id AND programs.partners_see_amounts
WHERE commissions.program_id = :program_id AND commissions.id IN :ids
