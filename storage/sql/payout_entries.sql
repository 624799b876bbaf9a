-- Appends what a payout pays of each of its commissions with these ids.
INSERT INTO ledger_entries (program_id, id, partner_id, commission_id, payout_id, kind, amount_cents, at)
SELECT
    item.program_id, :first_id + ROW_NUMBER() OVER (ORDER BY item.commission_id), item.partner_id,
    item.commission_id, item.payout_id, 'payout', -item.net_cents, :at
FROM payout_items AS item
WHERE item.program_id = :program_id AND item.payout_id = :payout_id AND item.is_live AND item.net_cents <> 0
    AND item.commission_id >= :since_id AND item.commission_id < :end_id
