-- The days on which a program paid its partners, the newest first.
SELECT at / 86400000 AS day, COUNT(DISTINCT partner_id) AS partners, -SUM(amount_cents) AS cents
FROM ledger_entries
WHERE program_id = :program_id AND kind = 'payout'
GROUP BY at / 86400000
ORDER BY at / 86400000 DESC
LIMIT :most
