-- Appends the opposite of what a payout's entries add up to, each pointing at the last that it corrects.
INSERT INTO ledger_entries (
    program_id, id, partner_id, commission_id, payout_id, kind, amount_cents, at, corrects_id
)
SELECT
    paid.program_id, :first_id + ROW_NUMBER() OVER (ORDER BY paid.newest_id), paid.partner_id, paid.commission_id,
    paid.payout_id, paid.kind, -paid.cents, :at, paid.newest_id
FROM (
    SELECT program_id, payout_id, partner_id, commission_id, kind, SUM(amount_cents) AS cents, MAX(id) AS newest_id
    FROM ledger_entries
    WHERE program_id = :program_id AND payout_id = :payout_id
    GROUP BY program_id, payout_id, partner_id, commission_id, kind
    HAVING SUM(amount_cents) <> 0
) AS paid
