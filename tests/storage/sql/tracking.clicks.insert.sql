-- SQLite
INSERT INTO clicks (program_id, click_id, partner_id, at, filtered, landing_url, page_url, page_title, referrer_url, visitor, referrer_host, ad_markers, address_hash, dimensions)
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
INSERT INTO clicks (program_id, click_id, partner_id, at, filtered, landing_url, page_url, page_title, referrer_url, visitor, referrer_host, ad_markers, address_hash, dimensions)
SELECT CAST(given_row.value ->> 0 AS BIGINT) AS anon_1,
       CAST(given_row.value ->> 1 AS VARCHAR(64)) AS anon_2,
       CAST(given_row.value ->> 2 AS BIGINT) AS anon_3,
       CAST(given_row.value ->> 3 AS BIGINT) AS anon_4,
       CAST(given_row.value ->> 4 AS VARCHAR(16)) AS anon_5,
       CAST(given_row.value ->> 5 AS TEXT) AS anon_6,
       CAST(given_row.value ->> 6 AS TEXT) AS anon_7,
       CAST(given_row.value ->> 7 AS TEXT) AS anon_8,
       CAST(given_row.value ->> 8 AS TEXT) AS anon_9,
       CAST(given_row.value ->> 9 AS TEXT) AS anon_10,
       CAST(given_row.value ->> 10 AS VARCHAR(253)) AS anon_11,
       CAST(given_row.value ->> 11 AS VARCHAR(128)) AS anon_12,
       CAST(given_row.value ->> 12 AS VARCHAR(24)) AS anon_13,
       CAST(given_row.value ->> 13 AS TEXT) AS anon_14
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
WHERE true
