-- The versions of a program's terms, special ones among them, the first to the last.
SELECT commission_terms.*
FROM commission_terms
WHERE commission_terms.program_id = :program_id
ORDER BY commission_terms.version
