INSERT INTO changes (program_id, seq, kind, label, number, cents, ids, at)
SELECT change.*
FROM jsonb_to_recordset(:rows) AS change (
    program_id bigint, seq bigint, kind varchar(64), label varchar(64), number bigint, cents bigint, ids text, at bigint
)
