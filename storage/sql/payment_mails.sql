-- The statements that partners who want them get by e-mail, of payouts that were sent since a time; at most so many.
SELECT line.program_id, line.number
FROM payout_lines AS line
JOIN payouts ON payouts.program_id = line.program_id AND payouts.id = line.payout_id
JOIN partners ON partners.program_id = line.program_id AND partners.id = line.partner_id
LEFT JOIN portal_accounts
    ON portal_accounts.program_id = line.program_id AND portal_accounts.partner_id = line.partner_id
WHERE line.mail_is_due AND line.state = 'paid' AND line.to_pay_cents > 0
    AND payouts.sent_at > :since
    AND partners.email IS NOT NULL
    AND COALESCE(portal_accounts.mails_payments, TRUE)
ORDER BY line.program_id, line.number
LIMIT :most
