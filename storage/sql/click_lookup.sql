-- What decides on a click: the partner of its link, and the click that the visitor carries already.
SELECT
    link.n AS n,
    programs.status,
    programs.sandbox_of,
    programs.attribution_model,
    programs.old_links,
    programs.cookie_window_days,
    partners.id AS partner_id,
    partners.code AS partner_code,
    partners.status AS partner_status,
    clicks.at AS existing_at,
    clicks.partner_id AS existing_partner_id,
    holder.code AS existing_code
FROM jsonb_to_recordset(:rows) AS link (program_id bigint, n bigint, code text, existing_click_id text)
JOIN programs ON programs.id = link.program_id
LEFT JOIN partners ON partners.program_id = link.program_id AND partners.code = link.code
LEFT JOIN clicks ON clicks.program_id = link.program_id AND clicks.click_id = link.existing_click_id
LEFT JOIN partners AS holder
    ON holder.program_id = clicks.program_id
    AND holder.id = clicks.partner_id
    AND holder.program_id = link.program_id
