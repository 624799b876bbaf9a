-- The partners with an e-mail address in lower case: of two partners of a program, who came first.
SELECT partners.program_id, partners.id AS partner_id, partners.email
FROM partners
WHERE LOWER(partners.email) = :email
    AND NOT EXISTS (
        SELECT 1
        FROM partners AS earlier
        WHERE earlier.program_id = partners.program_id
            AND LOWER(earlier.email) = :email
            AND earlier.id < partners.id
    )
ORDER BY partners.program_id
