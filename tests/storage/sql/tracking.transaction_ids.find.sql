-- SQLite
SELECT sales.program_id,
       sales.transaction_id,
       sales.id,
       sales.at,
       sales.payload_hash
FROM json_each(:rows) AS given_row
JOIN sales ON sales.program_id = (given_row.value ->> 0)
AND sales.transaction_id = (given_row.value ->> 1)

-- PostgreSQL
SELECT sales.program_id,
       sales.transaction_id,
       sales.id,
       sales.at,
       sales.payload_hash
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN sales ON sales.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND sales.transaction_id = CAST(given_row.value ->> 1 AS TEXT)
