-- The amounts of the sales that earned commissions, in cents of the program's currency.
SELECT commissions.id, sales.program_cents
FROM commissions
JOIN sales ON sales.program_id = commissions.program_id AND sales.id = commissions.sale_id
WHERE commissions.program_id = :program_id AND commissions.id IN :ids
