INSERT INTO refunds (
    program_id, id, sale_id, refund_id, amount_cents, program_cents, reversed_cents, reason, request_id,
    reported_cents, in_account, caller, at
)
SELECT refund.*
FROM jsonb_to_recordset(:rows) AS refund (
    program_id bigint, id bigint, sale_id bigint, refund_id varchar(255), amount_cents bigint, program_cents bigint,
    reversed_cents bigint, reason text, request_id varchar(64), reported_cents bigint, in_account boolean,
    caller varchar(192), at bigint
)
