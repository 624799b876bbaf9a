-- SQLite
INSERT INTO ledger_entries (program_id, id, partner_id, commission_id, kind, amount_cents, at)
SELECT (given_row.value ->> 0) AS anon_1,
       (given_row.value ->> 1) AS anon_2,
       (given_row.value ->> 2) AS anon_3,
       (given_row.value ->> 3) AS anon_4,
       (given_row.value ->> 4) AS anon_5,
       (given_row.value ->> 5) AS anon_6,
       (given_row.value ->> 6) AS anon_7
FROM json_each(:rows) AS given_row
WHERE 1 = 1

-- PostgreSQL
INSERT INTO ledger_entries (program_id, id, partner_id, commission_id, kind, amount_cents, at)
SELECT CAST(given_row.value ->> 0 AS BIGINT) AS anon_1,
       CAST(given_row.value ->> 1 AS BIGINT) AS anon_2,
       CAST(given_row.value ->> 2 AS BIGINT) AS anon_3,
       CAST(given_row.value ->> 3 AS BIGINT) AS anon_4,
       CAST(given_row.value ->> 4 AS VARCHAR(32)) AS anon_5,
       CAST(given_row.value ->> 5 AS BIGINT) AS anon_6,
       CAST(given_row.value ->> 6 AS BIGINT) AS anon_7
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
WHERE true
