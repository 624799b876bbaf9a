-- What each partner brought on a window's days, the ones with the most revenue first.
SELECT
    partner_rollups.partner_id, partners.name, partners.code,
    SUM(partner_rollups.clicks) AS clicks, SUM(partner_rollups.leads) AS leads,
    SUM(partner_rollups.conversions) AS conversions, SUM(partner_rollups.sales) AS sales,
    SUM(partner_rollups.revenue_cents) AS revenue_cents, SUM(partner_rollups.commission_cents) AS commission_cents,
    SUM(partner_rollups.partners) AS partners
FROM partner_rollups
JOIN partners ON partners.program_id = partner_rollups.program_id AND partners.id = partner_rollups.partner_id
WHERE partner_rollups.program_id = :program_id AND partner_rollups.day BETWEEN :first_day AND :last_day
GROUP BY partner_rollups.partner_id, partners.name, partners.code
ORDER BY
    SUM(partner_rollups.revenue_cents) DESC, SUM(partner_rollups.clicks) DESC, partner_rollups.partner_id
LIMIT :most
