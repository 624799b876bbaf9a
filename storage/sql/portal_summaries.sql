-- What partners who want a summary of the month before a day, and have none, earned in it; at most so many.
SELECT
    portal_accounts.program_id, portal_accounts.partner_id, partners.email, partners.name, programs.name AS program,
    programs.currency, :first_day AS month, CAST(SUM(partner_rollups.commission_cents) AS BIGINT) AS cents,
    CAST(SUM(partner_rollups.clicks) AS BIGINT) AS clicks
FROM portal_accounts
JOIN partners ON partners.program_id = portal_accounts.program_id AND partners.id = portal_accounts.partner_id
JOIN partner_rollups
    ON partner_rollups.program_id = portal_accounts.program_id
    AND partner_rollups.partner_id = portal_accounts.partner_id
JOIN programs ON programs.id = portal_accounts.program_id
WHERE portal_accounts.mails_summaries
    AND portal_accounts.summarized_on < :end_day
    AND partner_rollups.day >= :first_day
    AND partner_rollups.day < :end_day
    AND partners.email IS NOT NULL
GROUP BY
    portal_accounts.program_id, portal_accounts.partner_id, partners.email, partners.name, programs.name,
    programs.currency
LIMIT :most
