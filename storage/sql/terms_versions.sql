-- The newest versions of a program's terms, then the newest of special ones, each newest first: until when each was in
-- force, and what it earned, by the newest 100,000 commissions of sales and before refunds.
SELECT
    version.*,
    CASE WHEN version.is_special = 1 THEN version.ended_at ELSE version.replaced_at END AS until,
    COALESCE(earned.sales, 0) AS sales,
    COALESCE(earned.sales_cents, 0) AS sales_cents,
    COALESCE(earned.commission_cents, 0) AS commission_cents
FROM (
    SELECT
        terms.*,
        ROW_NUMBER() OVER (PARTITION BY terms.is_special ORDER BY terms.version DESC) AS place,
        LAG(terms.created_at) OVER (PARTITION BY terms.is_special ORDER BY terms.version DESC) AS replaced_at
    FROM (
        SELECT
            commission_terms.*,
            CASE WHEN partner_id IS NULL AND partner_group IS NULL THEN 0 ELSE 1 END AS is_special
        FROM commission_terms
        WHERE commission_terms.program_id = :program_id
    ) AS terms
) AS version
LEFT JOIN (
    SELECT
        newest.program_id, newest.terms_version, COUNT(*) AS sales, SUM(newest.program_cents) AS sales_cents,
        SUM(newest.amount_cents) AS commission_cents
    FROM (
        SELECT commissions.program_id, commissions.terms_version, commissions.amount_cents, sales.program_cents
        FROM commissions
        JOIN sales ON sales.program_id = commissions.program_id AND sales.id = commissions.sale_id
        WHERE commissions.program_id = :program_id
        ORDER BY commissions.id DESC
        LIMIT 100000
    ) AS newest
    GROUP BY newest.program_id, newest.terms_version
) AS earned ON earned.program_id = version.program_id AND earned.terms_version = version.version
WHERE version.place <= CASE WHEN version.is_special = 1 THEN 10 ELSE 20 END
ORDER BY version.is_special, version.version DESC
