-- The totals of a program on each day of a window, in the order of `Totals`.
SELECT day, clicks, leads, conversions, sales, revenue_cents, commission_cents, partners
FROM rollups
WHERE program_id = :program_id AND day BETWEEN :first_day AND :last_day
