-- Adds to the daily totals of programs.
INSERT INTO rollups (
    program_id, day, clicks, leads, conversions, sales, revenue_cents, commission_cents, partners, changes
)
SELECT step.*
FROM jsonb_to_recordset(:rows) AS step (
    program_id bigint, day date, clicks bigint, leads bigint, conversions bigint, sales bigint, revenue_cents bigint,
    commission_cents bigint, partners bigint, changes bigint
)
WHERE true
ON CONFLICT (program_id, day) DO UPDATE SET
    clicks = rollups.clicks + excluded.clicks,
    leads = rollups.leads + excluded.leads,
    conversions = rollups.conversions + excluded.conversions,
    sales = rollups.sales + excluded.sales,
    revenue_cents = rollups.revenue_cents + excluded.revenue_cents,
    commission_cents = rollups.commission_cents + excluded.commission_cents,
    partners = rollups.partners + excluded.partners,
    changes = rollups.changes + excluded.changes
