-- The first calls with these Idempotency-Keys.
SELECT
    idempotent_calls.program_id, idempotent_calls.idempotency_key, idempotent_calls.request_hash,
    idempotent_calls.body, idempotent_calls.at
FROM jsonb_to_recordset(:rows) AS call (program_id bigint, idempotency_key varchar(255))
JOIN idempotent_calls
    ON idempotent_calls.program_id = call.program_id
    AND idempotent_calls.idempotency_key = call.idempotency_key
