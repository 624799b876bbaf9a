-- What changed a partner's balance, besides commissions to pay, between the statement before and a payout's draft: refunds
-- of sales whose commission was paid before, disputes that were won, bonuses and corrections.
SELECT entry.at, entry.kind, sales.transaction_id, entry.reason, entry.amount_cents AS cents
FROM ledger_entries AS entry
LEFT JOIN commissions ON commissions.program_id = entry.program_id AND commissions.id = entry.commission_id
LEFT JOIN sales ON sales.program_id = entry.program_id AND sales.id = commissions.sale_id
WHERE
    entry.program_id = :program_id AND entry.partner_id = :partner_id
    AND entry.kind IN ('reversal', 'reinstatement', 'adjustment')
    AND (commissions.id IS NULL OR commissions.paid_at < entry.at)
    AND entry.at <= :until
    AND NOT EXISTS (
        SELECT 1
        FROM payout_lines AS line
        WHERE
            line.program_id = :program_id AND line.partner_id = :partner_id AND line.state = 'paid'
            AND line.created_at < :until AND line.created_at >= entry.at
    )
ORDER BY entry.id
LIMIT 1000
