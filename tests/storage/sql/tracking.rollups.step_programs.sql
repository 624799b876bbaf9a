-- SQLite
INSERT INTO rollups (program_id, day, clicks, leads, conversions, sales, revenue_cents, commission_cents, partners, changes)
SELECT (given_row.value ->> 0) AS anon_1,
       (given_row.value ->> 1) AS anon_2,
       (given_row.value ->> 2) AS anon_3,
       (given_row.value ->> 3) AS anon_4,
       (given_row.value ->> 4) AS anon_5,
       (given_row.value ->> 5) AS anon_6,
       (given_row.value ->> 6) AS anon_7,
       (given_row.value ->> 7) AS anon_8,
       (given_row.value ->> 8) AS anon_9,
       (given_row.value ->> 9) AS anon_10
FROM json_each(:rows) AS given_row
WHERE 1 = 1 ON CONFLICT (program_id,
                         day) DO
  UPDATE
  SET clicks = (rollups.clicks + excluded.clicks),
      leads = (rollups.leads + excluded.leads),
      conversions = (rollups.conversions + excluded.conversions),
      sales = (rollups.sales + excluded.sales),
      revenue_cents = (rollups.revenue_cents + excluded.revenue_cents),
      commission_cents = (rollups.commission_cents + excluded.commission_cents),
      partners = (rollups.partners + excluded.partners),
      changes = (rollups.changes + excluded.changes)

-- PostgreSQL
INSERT INTO rollups (program_id, day, clicks, leads, conversions, sales, revenue_cents, commission_cents, partners, changes)
SELECT CAST(given_row.value ->> 0 AS BIGINT) AS anon_1,
       CAST(given_row.value ->> 1 AS DATE) AS anon_2,
       CAST(given_row.value ->> 2 AS BIGINT) AS anon_3,
       CAST(given_row.value ->> 3 AS BIGINT) AS anon_4,
       CAST(given_row.value ->> 4 AS BIGINT) AS anon_5,
       CAST(given_row.value ->> 5 AS BIGINT) AS anon_6,
       CAST(given_row.value ->> 6 AS BIGINT) AS anon_7,
       CAST(given_row.value ->> 7 AS BIGINT) AS anon_8,
       CAST(given_row.value ->> 8 AS BIGINT) AS anon_9,
       CAST(given_row.value ->> 9 AS BIGINT) AS anon_10
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
WHERE true ON CONFLICT (program_id,
                        day) DO
  UPDATE
  SET clicks = (rollups.clicks + excluded.clicks),
      leads = (rollups.leads + excluded.leads),
      conversions = (rollups.conversions + excluded.conversions),
      sales = (rollups.sales + excluded.sales),
      revenue_cents = (rollups.revenue_cents + excluded.revenue_cents),
      commission_cents = (rollups.commission_cents + excluded.commission_cents),
      partners = (rollups.partners + excluded.partners),
      changes = (rollups.changes + excluded.changes)
