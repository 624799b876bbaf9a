-- The clicks of a program's days, and its refunds since a time.
SELECT
    (
        SELECT COALESCE(SUM(rollups.clicks), 0)
        FROM rollups
        WHERE rollups.program_id = :program_id AND rollups.day >= :first_day
    ) AS clicks,
    (
        SELECT COUNT(*)
        FROM refunds
        WHERE refunds.program_id = :program_id AND refunds.id >= :since_id AND refunds.at >= :since
    ) AS refunds
