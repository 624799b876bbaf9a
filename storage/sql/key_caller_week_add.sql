-- Adds to the calls of those who call with a program's key, by week.
INSERT INTO key_caller_weeks (program_id, key_hash, caller, week, calls)
SELECT caller.*
FROM jsonb_to_recordset(:rows) AS caller (program_id bigint, key_hash text, caller text, week date, calls bigint)
WHERE true
ON CONFLICT (program_id, key_hash, caller, week) DO UPDATE SET calls = key_caller_weeks.calls + excluded.calls
