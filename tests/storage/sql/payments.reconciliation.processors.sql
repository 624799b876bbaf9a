-- SQLite
SELECT payment_customers.program_id,
       payment_customers.processor_customer,
       payment_customers.click_id
FROM json_each(:rows) AS given_row
JOIN payment_customers ON payment_customers.program_id = (given_row.value ->> 0)
AND payment_customers.processor_customer = (given_row.value ->> 1)

-- PostgreSQL
SELECT payment_customers.program_id,
       payment_customers.processor_customer,
       payment_customers.click_id
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN payment_customers ON payment_customers.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND payment_customers.processor_customer = CAST(given_row.value ->> 1 AS TEXT)
