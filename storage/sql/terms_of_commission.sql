-- The version of the terms that priced a commission.
SELECT commission_terms.*
FROM commissions
JOIN commission_terms
    ON commission_terms.program_id = commissions.program_id AND commission_terms.version = commissions.terms_version
WHERE commissions.program_id = :program_id AND commissions.id = :commission_id
