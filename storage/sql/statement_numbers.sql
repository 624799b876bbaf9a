-- The numbers of a payout's statements of what was paid.
SELECT number
FROM payout_lines
WHERE program_id = :program_id AND payout_id = :payout_id AND state = 'paid' AND to_pay_cents > 0
ORDER BY number
