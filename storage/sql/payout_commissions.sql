-- Marks the commissions of a payout as paid.
UPDATE commissions
SET status = 'paid', paid_at = :at
WHERE commissions.program_id = :program_id AND commissions.id IN (
    SELECT item.commission_id
    FROM payout_items AS item
    WHERE item.program_id = :program_id AND item.payout_id = :payout_id AND item.is_live
)
