-- SQLite
INSERT INTO customers (program_id, id, partner_id, click_id, clicked_at, customer_key, confirmed, email_hash, email_mask, status, settlement, signup_at, first_purchase_at, revision, created_at)
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
       (given_row.value ->> 13) AS anon_14,
       (given_row.value ->> 14) AS anon_15
FROM json_each(:rows) AS given_row
WHERE 1 = 1 ON CONFLICT (program_id,
                         id) DO
  UPDATE
  SET clicked_at = excluded.clicked_at,
      customer_key = excluded.customer_key,
      confirmed = excluded.confirmed,
      email_hash = excluded.email_hash,
      email_mask = excluded.email_mask,
      status = excluded.status,
      settlement = excluded.settlement,
      signup_at = excluded.signup_at,
      first_purchase_at = excluded.first_purchase_at,
      revision = excluded.revision WHERE customers.revision = excluded.revision - 1 RETURNING id

-- PostgreSQL
INSERT INTO customers (program_id, id, partner_id, click_id, clicked_at, customer_key, confirmed, email_hash, email_mask, status, settlement, signup_at, first_purchase_at, revision, created_at)
SELECT CAST(given_row.value ->> 0 AS BIGINT) AS anon_1,
       CAST(given_row.value ->> 1 AS BIGINT) AS anon_2,
       CAST(given_row.value ->> 2 AS BIGINT) AS anon_3,
       CAST(given_row.value ->> 3 AS TEXT) AS anon_4,
       CAST(given_row.value ->> 4 AS BIGINT) AS anon_5,
       CAST(given_row.value ->> 5 AS TEXT) AS anon_6,
       CAST(given_row.value ->> 6 AS BOOLEAN) AS anon_7,
       CAST(given_row.value ->> 7 AS TEXT) AS anon_8,
       CAST(given_row.value ->> 8 AS TEXT) AS anon_9,
       CAST(given_row.value ->> 9 AS TEXT) AS anon_10,
       CAST(given_row.value ->> 10 AS TEXT) AS anon_11,
       CAST(given_row.value ->> 11 AS BIGINT) AS anon_12,
       CAST(given_row.value ->> 12 AS BIGINT) AS anon_13,
       CAST(given_row.value ->> 13 AS BIGINT) AS anon_14,
       CAST(given_row.value ->> 14 AS BIGINT) AS anon_15
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
WHERE true ON CONFLICT (program_id,
                        id) DO
  UPDATE
  SET clicked_at = excluded.clicked_at,
      customer_key = excluded.customer_key,
      confirmed = excluded.confirmed,
      email_hash = excluded.email_hash,
      email_mask = excluded.email_mask,
      status = excluded.status,
      settlement = excluded.settlement,
      signup_at = excluded.signup_at,
      first_purchase_at = excluded.first_purchase_at,
      revision = excluded.revision WHERE customers.revision = excluded.revision - 1::INTEGER RETURNING customers.id
