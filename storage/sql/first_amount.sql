-- Whether a sale or commission is recorded in a program's currency.
SELECT sales.program_id FROM sales WHERE sales.program_id = :program_id
UNION ALL
SELECT commissions.program_id FROM commissions WHERE commissions.program_id = :program_id
LIMIT 1
