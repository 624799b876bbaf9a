INSERT INTO kept_calls (program_id, id, call, code, state, sealed, caller, at)
SELECT kept.*
FROM jsonb_to_recordset(:rows) AS kept (
    program_id bigint, id bigint, call varchar(16), code varchar(64), state varchar(16), sealed text,
    caller varchar(192), at bigint
)
