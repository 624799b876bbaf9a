-- What the entries of commissions add up to, by kind, and the newest of them.
SELECT
    ledger_entries.program_id, ledger_entries.commission_id, ledger_entries.kind,
    CAST(SUM(ledger_entries.amount_cents) AS bigint) AS cents, MAX(ledger_entries.id) AS newest_id
FROM jsonb_to_recordset(:rows) AS earned (program_id bigint, commission_id bigint)
JOIN ledger_entries
    ON ledger_entries.program_id = earned.program_id
    AND ledger_entries.commission_id = earned.commission_id
GROUP BY ledger_entries.program_id, ledger_entries.commission_id, ledger_entries.kind
