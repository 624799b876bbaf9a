-- Which rows may go, by table, in the order in which they go.

-- sessions
expires_at <= :at

-- portal_tokens
expires_at <= :at

-- invitations
expires_at <= :at

-- device_logins
expires_at <= :at

-- used_handovers
expires_at <= :at

-- assistant_tokens
expires_at <= :at

-- Those of which no token is left.
-- assistants
NOT EXISTS (SELECT 1 FROM assistant_tokens WHERE assistant_tokens.assistant_id = assistants.id)

-- Those that no assistant has, and that were never used or not for long.
-- assistant_clients
((used_at IS NULL AND kept_at <= :week_ago) OR used_at <= :year_ago)
AND NOT EXISTS (SELECT 1 FROM assistants WHERE assistants.client_id = assistant_clients.client_id)

-- idempotent_answers
at <= :month_ago

-- idempotent_calls
at <= :month_ago

-- committed_batches
at < :day_ago

-- program_batches
at < :day_ago

-- refused_calls
at < :month_ago

-- changes
at < :changes_since

-- The newest of a program are kept for as long as the log has them.
-- kept_calls
at < :month_ago OR (program_id, id) IN (
    SELECT program_id, id
    FROM (
        SELECT program_id, id, ROW_NUMBER() OVER (PARTITION BY program_id ORDER BY id DESC) AS place FROM kept_calls
    ) AS numbered
    WHERE place > :most
)

-- key_callers
last_at < :callers_since

-- key_caller_weeks
week < :first_day

-- tracking_log
EXISTS (
    SELECT 1 FROM test_events
    WHERE test_events.program_id = tracking_log.program_id AND test_events.id = tracking_log.event_id
        AND NOT test_events.with_key AND test_events.at < :month_ago
)

-- test_events
NOT with_key AND at < :month_ago
