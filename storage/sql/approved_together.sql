-- The commissions that someone approved within a span: an id of the audit log is never earlier than its time.
SELECT CAST(audit_entries.subject_id AS BIGINT) AS id
FROM audit_entries
WHERE audit_entries.program_id = :program_id
    AND audit_entries.id >= :first_id
    AND audit_entries.at >= :since
    AND audit_entries.at < :until
    AND audit_entries.actor_type = :actor_type
    AND audit_entries.actor_id = :actor_id
    AND audit_entries.action = 'commission.decide'
    AND audit_entries.field = 'status'
    AND audit_entries.after = '"approved"'
LIMIT :most
