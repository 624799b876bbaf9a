-- Adds to the calls of those who call with a program's key.
INSERT INTO key_callers (program_id, key_hash, call, user_agent, network_hash, calls, first_at, last_at)
SELECT caller.*
FROM jsonb_to_recordset(:rows) AS caller (
    program_id bigint, key_hash text, call text, user_agent text, network_hash text, calls bigint, first_at bigint,
    last_at bigint
)
WHERE true
ON CONFLICT (program_id, key_hash, call, user_agent, network_hash) DO UPDATE SET
    calls = key_callers.calls + excluded.calls,
    first_at = CASE WHEN excluded.first_at < key_callers.first_at THEN excluded.first_at ELSE key_callers.first_at END,
    last_at = CASE WHEN excluded.last_at > key_callers.last_at THEN excluded.last_at ELSE key_callers.last_at END
