-- Counts the commissions of each line of a payout, unless it froze other amounts than the line has.
UPDATE payout_lines
SET commissions = (
    SELECT COUNT(*)
    FROM payout_items AS item
    WHERE item.program_id = :program_id AND item.payout_id = :payout_id AND item.partner_id = payout_lines.partner_id
)
WHERE payout_lines.program_id = :program_id AND payout_lines.payout_id = :payout_id AND payout_lines.approved_cents = (
    SELECT COALESCE(SUM(item.net_cents), 0)
    FROM payout_items AS item
    WHERE item.program_id = :program_id AND item.payout_id = :payout_id AND item.partner_id = payout_lines.partner_id
)
