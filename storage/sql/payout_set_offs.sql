-- Appends what the lines of a payout set off, of the first commissions first; what is owed besides is part of the first,
-- or of no commission where a line has none.
INSERT INTO ledger_entries (program_id, id, partner_id, commission_id, payout_id, kind, amount_cents, at)
SELECT
    part.program_id, :first_id + ROW_NUMBER() OVER (ORDER BY part.partner_id, part.commission_id), part.partner_id,
    part.commission_id, part.payout_id, 'set_off', part.cents, :at
FROM (
    SELECT
        each.program_id, each.payout_id, each.partner_id, each.commission_id,
        CASE
            WHEN each.set_off_cents <= each.earlier_cents THEN 0
            WHEN each.set_off_cents - each.earlier_cents < each.net_cents THEN each.set_off_cents - each.earlier_cents
            ELSE each.net_cents
        END - CASE WHEN each.place = 1 THEN each.adjusted_cents ELSE 0 END AS cents
    FROM (
        SELECT
            line.program_id, line.payout_id, line.partner_id, line.set_off_cents, line.adjusted_cents,
            item.commission_id, COALESCE(item.net_cents, 0) AS net_cents,
            COALESCE(SUM(item.net_cents) OVER (
                PARTITION BY line.partner_id ORDER BY item.commission_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0) AS earlier_cents,
            ROW_NUMBER() OVER (PARTITION BY line.partner_id ORDER BY item.commission_id) AS place
        FROM payout_lines AS line
        LEFT JOIN payout_items AS item
            ON item.program_id = line.program_id AND item.payout_id = line.payout_id
            AND item.partner_id = line.partner_id AND item.is_live
        WHERE
            line.program_id = :program_id AND line.payout_id = :payout_id AND line.state = 'open'
            AND (line.set_off_cents <> 0 OR line.adjusted_cents <> 0)
    ) AS each
) AS part
WHERE part.cents <> 0
