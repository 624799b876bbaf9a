-- The group of a partner now, and as JSON what the first change of it after a time replaced; none: NULL.
SELECT
    partners.partner_group,
    (
        SELECT audit_entries.before
        FROM audit_entries
        WHERE audit_entries.program_id = :program_id
            AND audit_entries.action = 'partner.terms'
            AND audit_entries.field = 'group'
            AND audit_entries.subject_id = CAST(partners.id AS VARCHAR)
            AND audit_entries.at > :at
        ORDER BY audit_entries.id
        LIMIT 1
    ) AS replaced
FROM partners
WHERE partners.program_id = :program_id AND partners.id = :partner_id
