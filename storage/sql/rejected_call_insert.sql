INSERT INTO refused_calls (
    program_id, id, call, code, message, fields, customer_key, click_id, transaction_id, amount_cents, currency,
    coupon_code, same_payload, request_id, caller, occurred_at, at
)
SELECT rejected.*
FROM jsonb_to_recordset(:rows) AS rejected (
    program_id bigint, id bigint, call varchar(16), code varchar(64), message text, fields text,
    customer_key varchar(255), click_id varchar(255), transaction_id varchar(255), amount_cents bigint,
    currency varchar(3), coupon_code varchar(255), same_payload boolean, request_id varchar(64), caller varchar(192),
    occurred_at bigint, at bigint
)
