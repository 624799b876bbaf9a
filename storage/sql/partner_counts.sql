-- What each partner brought from a day to before another, by its rollups and the newest 100,000 sales.
SELECT
    brought.partner_id, SUM(brought.clicks) AS clicks, SUM(brought.conversions) AS conversions,
    SUM(brought.sales) AS sales, SUM(brought.refunded_sales) AS refunded_sales
FROM (
    SELECT
        partner_rollups.partner_id, partner_rollups.clicks, partner_rollups.conversions, 0 AS sales, 0 AS refunded_sales
    FROM partner_rollups
    WHERE partner_rollups.program_id = :program_id
        AND partner_rollups.day >= :first_day
        AND partner_rollups.day < :end_day
    UNION ALL
    SELECT newest.partner_id, 0, 0, 1, CASE WHEN newest.refunded_cents > 0 THEN 1 ELSE 0 END
    FROM (
        SELECT sales.partner_id, sales.refunded_cents
        FROM sales
        WHERE sales.program_id = :program_id
            AND sales.id >= :since_id
            AND sales.at >= :since
            AND sales.at < :until
        ORDER BY sales.id DESC
        LIMIT 100000
    ) AS newest
) AS brought
GROUP BY brought.partner_id
ORDER BY brought.partner_id
