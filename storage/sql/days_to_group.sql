-- The days of a program that are not grouped by dimension, or have changed since, the newest first: what they have now,
-- and how far each is grouped. None while there are clicks without dimensions: a task adds them first.
SELECT
    rollups.day, rollups.clicks, rollups.changes, grouped_days.until AS until, grouped_days.clicks AS grouped_clicks,
    grouped_days.changes AS grouped_changes
FROM rollups
LEFT JOIN grouped_days ON grouped_days.program_id = rollups.program_id AND grouped_days.day = rollups.day
WHERE rollups.program_id = :program_id
    AND (
        grouped_days.day IS NULL
        OR grouped_days.clicks <> rollups.clicks
        OR grouped_days.changes <> rollups.changes
    )
    AND NOT EXISTS (
        SELECT 1 FROM clicks WHERE clicks.program_id = :program_id AND clicks.dimensions IS NULL
    )
ORDER BY rollups.day DESC
