-- SQLite
INSERT INTO leads (program_id, id, customer_id, partner_id, settlement, with_key, event_name, address_hash, outranked_by, outranked_at, at)
SELECT (given_row.value ->> 0) AS anon_1,
       (given_row.value ->> 1) AS anon_2,
       (given_row.value ->> 2) AS anon_3,
       (given_row.value ->> 3) AS anon_4,
       (given_row.value ->> 4) AS anon_5,
       (given_row.value ->> 5) AS anon_6,
       (given_row.value ->> 6) AS anon_7,
       (given_row.value ->> 7) AS anon_8,
       (given_row.value ->> 8) AS anon_9,
       (given_row.value ->> 9) AS anon_10,
       (given_row.value ->> 10) AS anon_11
FROM json_each(:rows) AS given_row
WHERE 1 = 1

-- PostgreSQL
INSERT INTO leads (program_id, id, customer_id, partner_id, settlement, with_key, event_name, address_hash, outranked_by, outranked_at, at)
SELECT CAST(given_row.value ->> 0 AS BIGINT) AS anon_1,
       CAST(given_row.value ->> 1 AS BIGINT) AS anon_2,
       CAST(given_row.value ->> 2 AS BIGINT) AS anon_3,
       CAST(given_row.value ->> 3 AS BIGINT) AS anon_4,
       CAST(given_row.value ->> 4 AS VARCHAR(16)) AS anon_5,
       CAST(given_row.value ->> 5 AS BOOLEAN) AS anon_6,
       CAST(given_row.value ->> 6 AS TEXT) AS anon_7,
       CAST(given_row.value ->> 7 AS VARCHAR(24)) AS anon_8,
       CAST(given_row.value ->> 8 AS BIGINT) AS anon_9,
       CAST(given_row.value ->> 9 AS BIGINT) AS anon_10,
       CAST(given_row.value ->> 10 AS BIGINT) AS anon_11
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
WHERE true
