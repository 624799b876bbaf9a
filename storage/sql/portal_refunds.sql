-- The newest refunds that took something of a partner's commissions back, and when each sale was made.
SELECT refunds.at, refunds.reversed_cents, sales.occurred_at
FROM refunds
JOIN sales ON sales.program_id = refunds.program_id AND sales.id = refunds.sale_id
WHERE refunds.program_id = :program_id AND sales.partner_id = :partner_id AND refunds.reversed_cents > 0
ORDER BY refunds.id DESC
LIMIT :most
