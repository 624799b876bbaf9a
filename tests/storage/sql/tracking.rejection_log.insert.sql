-- SQLite
INSERT INTO refused_calls (program_id, id, call, code, message, fields, customer_key, click_id, transaction_id, amount_cents, currency, same_payload, request_id, at)
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
       (given_row.value ->> 10) AS anon_11,
       (given_row.value ->> 11) AS anon_12,
       (given_row.value ->> 12) AS anon_13,
       (given_row.value ->> 13) AS anon_14
FROM json_each(:rows) AS given_row
WHERE 1 = 1

-- PostgreSQL
INSERT INTO refused_calls (program_id, id, call, code, message, fields, customer_key, click_id, transaction_id, amount_cents, currency, same_payload, request_id, at)
SELECT CAST(given_row.value ->> 0 AS BIGINT) AS anon_1,
       CAST(given_row.value ->> 1 AS BIGINT) AS anon_2,
       CAST(given_row.value ->> 2 AS VARCHAR(16)) AS anon_3,
       CAST(given_row.value ->> 3 AS VARCHAR(64)) AS anon_4,
       CAST(given_row.value ->> 4 AS TEXT) AS anon_5,
       CAST(given_row.value ->> 5 AS TEXT) AS anon_6,
       CAST(given_row.value ->> 6 AS VARCHAR(255)) AS anon_7,
       CAST(given_row.value ->> 7 AS VARCHAR(255)) AS anon_8,
       CAST(given_row.value ->> 8 AS VARCHAR(255)) AS anon_9,
       CAST(given_row.value ->> 9 AS BIGINT) AS anon_10,
       CAST(given_row.value ->> 10 AS VARCHAR(3)) AS anon_11,
       CAST(given_row.value ->> 11 AS BOOLEAN) AS anon_12,
       CAST(given_row.value ->> 12 AS VARCHAR(64)) AS anon_13,
       CAST(given_row.value ->> 13 AS BIGINT) AS anon_14
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
WHERE true
