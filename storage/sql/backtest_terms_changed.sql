-- When the terms of a program changed, or the group of one of its partners.
SELECT commission_terms.created_at AS at FROM commission_terms WHERE commission_terms.program_id = :program_id
UNION
SELECT commission_terms.ended_at
FROM commission_terms
WHERE commission_terms.program_id = :program_id AND commission_terms.ended_at IS NOT NULL
UNION
SELECT audit_entries.at
FROM audit_entries
WHERE audit_entries.program_id = :program_id
    AND audit_entries.action = 'partner.terms'
    AND audit_entries.field = 'group'
ORDER BY at
