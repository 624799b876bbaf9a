-- How many commissions of a draft were approved before their hold ended.
SELECT COUNT(*)
FROM payouts
JOIN payout_items AS item ON item.program_id = payouts.program_id AND item.payout_id = payouts.id AND item.is_live
JOIN commissions ON commissions.program_id = item.program_id AND commissions.id = item.commission_id
WHERE
    payouts.program_id = :program_id AND payouts.id = :payout_id AND commissions.hold_until > payouts.created_at
