-- Marks the open lines of a payout as paid; those without a number get the program's next ones.
UPDATE payout_lines
SET state = 'paid', mail_is_due = :mail_is_due, number = COALESCE(number, :last_number + ranked.place)
FROM (
    SELECT line.id, ROW_NUMBER() OVER (ORDER BY CASE WHEN line.number IS NULL THEN 0 ELSE 1 END, line.id) AS place
    FROM payout_lines AS line
    WHERE line.program_id = :program_id AND line.payout_id = :payout_id AND line.state = 'open'
) AS ranked
WHERE payout_lines.program_id = :program_id AND payout_lines.id = ranked.id
