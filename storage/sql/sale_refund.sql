-- Saves how much of sales is refunded.
UPDATE sales
SET refunded_cents = refund.refunded_cents
FROM jsonb_to_recordset(:rows) AS refund (program_id bigint, sale_id bigint, refunded_cents bigint)
WHERE sales.program_id = refund.program_id AND sales.id = refund.sale_id
