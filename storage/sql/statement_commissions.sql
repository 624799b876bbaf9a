-- The newest 2,000 commissions that a payout paid a partner: as earned, what refunds took of each before, what was paid.
SELECT
    commissions.id, commissions.created_at AS earned_at, sales.transaction_id, commissions.amount_cents,
    commissions.amount_cents - item.net_cents AS refunded_cents, item.net_cents
FROM payout_items AS item
JOIN commissions ON commissions.program_id = item.program_id AND commissions.id = item.commission_id
LEFT JOIN sales ON sales.program_id = item.program_id AND sales.id = commissions.sale_id
WHERE item.program_id = :program_id AND item.payout_id = :payout_id AND item.partner_id = :partner_id
ORDER BY commissions.id DESC
LIMIT 2000
