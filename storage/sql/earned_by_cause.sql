-- What a program's commissions that were created in a window earned, less what was taken back, for leads and for sales.
SELECT
    CASE WHEN commissions.lead_id IS NULL THEN 'sale' ELSE 'lead' END AS cause,
    SUM(ledger_entries.amount_cents) AS cents
FROM commissions
JOIN ledger_entries
    ON ledger_entries.program_id = commissions.program_id AND ledger_entries.commission_id = commissions.id
    AND ledger_entries.kind IN ('commission', 'reversal', 'reinstatement', 'rejection')
WHERE commissions.program_id = :program_id
    AND commissions.id >= :first_id
    AND commissions.created_at BETWEEN :since AND :last
GROUP BY CASE WHEN commissions.lead_id IS NULL THEN 'sale' ELSE 'lead' END
