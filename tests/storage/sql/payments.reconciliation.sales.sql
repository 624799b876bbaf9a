-- SQLite
SELECT sales.program_id,
       sales.id,
       sales.transaction_id,
       sales.customer_id,
       sales.partner_id,
       sales.amount_cents,
       sales.currency,
       sales.program_cents,
       sales.refunded_cents,
       sales.details,
       sales.customer_key,
       sales.payload_hash,
       sales.provenance,
       sales.occurred_at,
       sales.at
FROM json_each(:rows) AS given_row
JOIN sales ON sales.program_id = (given_row.value ->> 0)
AND sales.transaction_id = (given_row.value ->> 1)

-- PostgreSQL
SELECT sales.program_id,
       sales.id,
       sales.transaction_id,
       sales.customer_id,
       sales.partner_id,
       sales.amount_cents,
       sales.currency,
       sales.program_cents,
       sales.refunded_cents,
       sales.details,
       sales.customer_key,
       sales.payload_hash,
       sales.provenance,
       sales.occurred_at,
       sales.at
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN sales ON sales.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND sales.transaction_id = CAST(given_row.value ->> 1 AS TEXT)
