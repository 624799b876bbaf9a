INSERT INTO idempotent_calls (program_id, idempotency_key, request_hash, body, at)
SELECT call.*
FROM jsonb_to_recordset(:rows) AS call (
    program_id bigint, idempotency_key varchar(255), request_hash varchar(64), body text, at bigint
)
