-- A report's counts of a window, and how many of its days before a day are not grouped by dimension.
SELECT
    SUM(CASE WHEN grouped_days.day IS NULL AND rollups.day < :end_day THEN 1 ELSE 0 END) AS ungrouped,
    SUM(rollups.clicks) AS clicks, SUM(rollups.leads) AS leads, SUM(rollups.conversions) AS conversions,
    SUM(rollups.sales) AS sales, SUM(rollups.revenue_cents) AS revenue_cents,
    SUM(rollups.commission_cents) AS commission_cents
FROM rollups
LEFT JOIN grouped_days ON grouped_days.program_id = rollups.program_id AND grouped_days.day = rollups.day
WHERE rollups.program_id = :program_id AND rollups.day BETWEEN :first_day AND :last_day
