-- SQLite
SELECT (given_row.value ->> 1) AS asked_id,
       sales.program_id,
       sales.transaction_id,
       sales.id,
       sales.at,
       sales.payload_hash,
       0 AS is_likely
FROM json_each(:rows) AS given_row
JOIN sales ON sales.program_id = (given_row.value ->> 0)
AND sales.transaction_id = (given_row.value ->> 1)
UNION ALL
SELECT (given_row.value ->> 1) AS asked_id,
       sales.program_id,
       sales.transaction_id,
       sales.id,
       sales.at,
       sales.payload_hash,
       1 AS is_likely
FROM json_each(:rows) AS given_row
JOIN sales ON sales.program_id = (given_row.value ->> 0)
AND sales.customer_id = (given_row.value ->> 2)
AND sales.amount_cents = (given_row.value ->> 3)
AND sales.currency = (given_row.value ->> 4)
AND sales.occurred_at >= (given_row.value ->> 5)
AND sales.occurred_at <= (given_row.value ->> 6)
AND sales.transaction_id != (given_row.value ->> 1)
AND (EXISTS
       (SELECT *
        FROM payment_references
        WHERE payment_references.program_id = sales.program_id
          AND payment_references.transaction_id = sales.transaction_id
          AND true = 1))

-- PostgreSQL
SELECT CAST(given_row.value ->> 1 AS TEXT) AS asked_id,
       sales.program_id,
       sales.transaction_id,
       sales.id,
       sales.at,
       sales.payload_hash,
       0::INTEGER AS is_likely
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN sales ON sales.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND sales.transaction_id = CAST(given_row.value ->> 1 AS TEXT)
UNION ALL
SELECT CAST(given_row.value ->> 1 AS TEXT) AS asked_id,
       sales.program_id,
       sales.transaction_id,
       sales.id,
       sales.at,
       sales.payload_hash,
       1::INTEGER AS is_likely
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN sales ON sales.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND sales.customer_id = CAST(given_row.value ->> 2 AS BIGINT)
AND sales.amount_cents = CAST(given_row.value ->> 3 AS BIGINT)
AND sales.currency = CAST(given_row.value ->> 4 AS TEXT)
AND sales.occurred_at >= CAST(given_row.value ->> 5 AS BIGINT)
AND sales.occurred_at <= CAST(given_row.value ->> 6 AS BIGINT)
AND sales.transaction_id != CAST(given_row.value ->> 1 AS TEXT)
AND (EXISTS
       (SELECT *
        FROM payment_references
        WHERE payment_references.program_id = sales.program_id
          AND payment_references.transaction_id = sales.transaction_id
          AND true))
