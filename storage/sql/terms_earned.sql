-- What each version of a program's terms earned, by the newest 100,000 commissions of sales and before refunds.
SELECT
    newest.terms_version, COUNT(*) AS sales, SUM(newest.program_cents) AS sales_cents,
    SUM(newest.amount_cents) AS commission_cents
FROM (
    SELECT commissions.terms_version, commissions.amount_cents, sales.program_cents
    FROM commissions
    JOIN sales ON sales.program_id = commissions.program_id AND sales.id = commissions.sale_id
    WHERE commissions.program_id = :program_id
    ORDER BY commissions.id DESC
    LIMIT 100000
) AS newest
GROUP BY newest.terms_version
