-- SQLite
SELECT (given_row.value ->> 1) AS n,
       programs.status,
       programs.sandbox_of,
       programs.attribution_model,
       programs.old_links,
       programs.cookie_window_days,
       partners.id AS partner_id,
       partners.status AS partner_status,
       clicks.at AS existing_at,
       clicks.partner_id AS existing_partner_id,
       holder.code AS existing_code
FROM json_each(:rows) AS given_row
JOIN programs ON programs.id = (given_row.value ->> 0)
LEFT OUTER JOIN partners ON partners.program_id = (given_row.value ->> 0)
AND partners.code = (given_row.value ->> 2)
LEFT OUTER JOIN clicks ON clicks.program_id = (given_row.value ->> 0)
AND clicks.click_id = (given_row.value ->> 3)
LEFT OUTER JOIN partners AS holder ON holder.program_id = clicks.program_id
AND holder.id = clicks.partner_id
AND true = 1

-- PostgreSQL
SELECT CAST(given_row.value ->> 1 AS BIGINT) AS n,
       programs.status,
       programs.sandbox_of,
       programs.attribution_model,
       programs.old_links,
       programs.cookie_window_days,
       partners.id AS partner_id,
       partners.status AS partner_status,
       clicks.at AS existing_at,
       clicks.partner_id AS existing_partner_id,
       holder.code AS existing_code
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN programs ON programs.id = CAST(given_row.value ->> 0 AS BIGINT)
LEFT OUTER JOIN partners ON partners.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND partners.code = CAST(given_row.value ->> 2 AS TEXT)
LEFT OUTER JOIN clicks ON clicks.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND clicks.click_id = CAST(given_row.value ->> 3 AS TEXT)
LEFT OUTER JOIN partners AS holder ON holder.program_id = clicks.program_id
AND holder.id = clicks.partner_id
AND true
