-- Marks the commissions of a payout with these ids as paid, in the order of the indexes that it changes.
UPDATE commissions
SET status = 'paid', paid_at = :at
FROM (
    SELECT item.commission_id
    FROM payout_items AS item
    WHERE
        item.program_id = :program_id AND item.payout_id = :payout_id AND item.is_live
        AND item.commission_id >= :since_id AND item.commission_id < :end_id
    ORDER BY item.commission_id
) AS paid
WHERE commissions.program_id = :program_id AND commissions.id = paid.commission_id
