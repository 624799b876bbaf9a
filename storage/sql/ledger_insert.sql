INSERT INTO ledger_entries (
    program_id, id, partner_id, commission_id, kind, amount_cents, corrects_id, refund_id, at
)
SELECT entry.*
FROM jsonb_to_recordset(:rows) AS entry (
    program_id bigint, id bigint, partner_id bigint, commission_id bigint, kind varchar(32), amount_cents bigint,
    corrects_id bigint, refund_id bigint, at bigint
)
