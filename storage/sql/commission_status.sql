-- Saves the statuses of commissions.
UPDATE commissions
SET status = change.status
FROM jsonb_to_recordset(:rows) AS change (program_id bigint, commission_id bigint, status varchar(16))
WHERE commissions.program_id = change.program_id AND commissions.id = change.commission_id
