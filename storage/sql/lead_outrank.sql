-- Marks the settled leads of browsers' claims whose customer_key another customer has now.
UPDATE leads SET settlement = 'outranked', outranked_by = claim.outranked_by, outranked_at = claim.outranked_at
FROM jsonb_to_recordset(:rows) AS claim (
    program_id bigint, customer_id bigint, outranked_by bigint, outranked_at bigint
)
WHERE leads.program_id = claim.program_id AND leads.customer_id = claim.customer_id AND leads.settlement = 'settled'
RETURNING leads.program_id, leads.id
