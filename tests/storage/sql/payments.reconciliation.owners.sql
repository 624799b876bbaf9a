-- SQLite
SELECT customers.program_id,
       customers.id,
       customers.partner_id,
       customers.click_id,
       customers.clicked_at,
       customers.customer_key,
       customers.confirmed,
       customers.email_hash,
       customers.email_mask,
       customers.status,
       customers.settlement,
       customers.signup_at,
       customers.first_purchase_at,
       customers.revision,
       customers.created_at
FROM json_each(:rows) AS given_row
JOIN customers ON customers.program_id = (given_row.value ->> 0)
AND customers.id = (given_row.value ->> 1)

-- PostgreSQL
SELECT customers.program_id,
       customers.id,
       customers.partner_id,
       customers.click_id,
       customers.clicked_at,
       customers.customer_key,
       customers.confirmed,
       customers.email_hash,
       customers.email_mask,
       customers.status,
       customers.settlement,
       customers.signup_at,
       customers.first_purchase_at,
       customers.revision,
       customers.created_at
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN customers ON customers.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND customers.id = CAST(given_row.value ->> 1 AS BIGINT)
