-- SQLite
SELECT payment_references.program_id,
       payment_references.reference,
       payment_references.transaction_id
FROM json_each(:rows) AS given_row
JOIN payment_references ON payment_references.program_id = (given_row.value ->> 0)
AND payment_references.reference = (given_row.value ->> 1)

-- PostgreSQL
SELECT payment_references.program_id,
       payment_references.reference,
       payment_references.transaction_id
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN payment_references ON payment_references.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND payment_references.reference = CAST(given_row.value ->> 1 AS TEXT)
