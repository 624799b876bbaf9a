-- Gives customers to other partners, in the transaction that has saved them.
UPDATE customers SET partner_id = moved.partner_id
FROM jsonb_to_recordset(:rows) AS moved (program_id bigint, id bigint, partner_id bigint)
WHERE customers.program_id = moved.program_id AND customers.id = moved.id
