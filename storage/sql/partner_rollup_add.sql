-- Adds to the daily totals of partners.
INSERT INTO partner_rollups (
    program_id, day, partner_id, clicks, leads, conversions, sales, revenue_cents, commission_cents, partners
)
SELECT step.*
FROM jsonb_to_recordset(:rows) AS step (
    program_id bigint, day date, partner_id bigint, clicks bigint, leads bigint, conversions bigint, sales bigint,
    revenue_cents bigint, commission_cents bigint, partners bigint
)
WHERE true
ON CONFLICT (program_id, day, partner_id) DO UPDATE SET
    clicks = partner_rollups.clicks + excluded.clicks,
    leads = partner_rollups.leads + excluded.leads,
    conversions = partner_rollups.conversions + excluded.conversions,
    sales = partner_rollups.sales + excluded.sales,
    revenue_cents = partner_rollups.revenue_cents + excluded.revenue_cents,
    commission_cents = partner_rollups.commission_cents + excluded.commission_cents,
    partners = partner_rollups.partners + excluded.partners
