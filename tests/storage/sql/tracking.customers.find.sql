-- SQLite
SELECT keyed.program_id AS k_program_id,
       keyed.id AS k_id,
       keyed.partner_id AS k_partner_id,
       keyed.click_id AS k_click_id,
       keyed.clicked_at AS k_clicked_at,
       keyed.customer_key AS k_customer_key,
       keyed.confirmed AS k_confirmed,
       keyed.email_hash AS k_email_hash,
       keyed.email_mask AS k_email_mask,
       keyed.status AS k_status,
       keyed.settlement AS k_settlement,
       keyed.signup_at AS k_signup_at,
       keyed.first_purchase_at AS k_first_purchase_at,
       keyed.revision AS k_revision,
       keyed.created_at AS k_created_at,
       sent_keyed.status AS k_partner_status,
       clicked.program_id AS c_program_id,
       clicked.id AS c_id,
       clicked.partner_id AS c_partner_id,
       clicked.click_id AS c_click_id,
       clicked.clicked_at AS c_clicked_at,
       clicked.customer_key AS c_customer_key,
       clicked.confirmed AS c_confirmed,
       clicked.email_hash AS c_email_hash,
       clicked.email_mask AS c_email_mask,
       clicked.status AS c_status,
       clicked.settlement AS c_settlement,
       clicked.signup_at AS c_signup_at,
       clicked.first_purchase_at AS c_first_purchase_at,
       clicked.revision AS c_revision,
       clicked.created_at AS c_created_at,
       sent.status AS c_partner_status,
       clicks.program_id AS x_program_id,
       clicks.click_id AS x_click_id,
       clicks.partner_id AS x_partner_id,
       clicks.at AS x_at,
       sent.status AS x_partner_status
FROM json_each(:rows) AS given_row
LEFT OUTER JOIN customers AS keyed ON keyed.program_id = (given_row.value ->> 0)
AND keyed.customer_key = (given_row.value ->> 1)
LEFT OUTER JOIN partners AS sent_keyed ON sent_keyed.program_id = keyed.program_id
AND sent_keyed.id = keyed.partner_id
AND true = 1
LEFT OUTER JOIN clicks ON clicks.program_id = (given_row.value ->> 0)
AND clicks.click_id = (given_row.value ->> 2)
LEFT OUTER JOIN partners AS sent ON sent.program_id = clicks.program_id
AND sent.id = clicks.partner_id
AND true = 1
LEFT OUTER JOIN customers AS clicked ON clicked.program_id = clicks.program_id
AND clicked.click_id = clicks.click_id
AND true = 1

-- PostgreSQL
SELECT keyed.program_id AS k_program_id,
       keyed.id AS k_id,
       keyed.partner_id AS k_partner_id,
       keyed.click_id AS k_click_id,
       keyed.clicked_at AS k_clicked_at,
       keyed.customer_key AS k_customer_key,
       keyed.confirmed AS k_confirmed,
       keyed.email_hash AS k_email_hash,
       keyed.email_mask AS k_email_mask,
       keyed.status AS k_status,
       keyed.settlement AS k_settlement,
       keyed.signup_at AS k_signup_at,
       keyed.first_purchase_at AS k_first_purchase_at,
       keyed.revision AS k_revision,
       keyed.created_at AS k_created_at,
       sent_keyed.status AS k_partner_status,
       clicked.program_id AS c_program_id,
       clicked.id AS c_id,
       clicked.partner_id AS c_partner_id,
       clicked.click_id AS c_click_id,
       clicked.clicked_at AS c_clicked_at,
       clicked.customer_key AS c_customer_key,
       clicked.confirmed AS c_confirmed,
       clicked.email_hash AS c_email_hash,
       clicked.email_mask AS c_email_mask,
       clicked.status AS c_status,
       clicked.settlement AS c_settlement,
       clicked.signup_at AS c_signup_at,
       clicked.first_purchase_at AS c_first_purchase_at,
       clicked.revision AS c_revision,
       clicked.created_at AS c_created_at,
       sent.status AS c_partner_status,
       clicks.program_id AS x_program_id,
       clicks.click_id AS x_click_id,
       clicks.partner_id AS x_partner_id,
       clicks.at AS x_at,
       sent.status AS x_partner_status
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
LEFT OUTER JOIN customers AS keyed ON keyed.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND keyed.customer_key = CAST(given_row.value ->> 1 AS TEXT)
LEFT OUTER JOIN partners AS sent_keyed ON sent_keyed.program_id = keyed.program_id
AND sent_keyed.id = keyed.partner_id
AND true
LEFT OUTER JOIN clicks ON clicks.program_id = CAST(given_row.value ->> 0 AS BIGINT)
AND clicks.click_id = CAST(given_row.value ->> 2 AS TEXT)
LEFT OUTER JOIN partners AS sent ON sent.program_id = clicks.program_id
AND sent.id = clicks.partner_id
AND true
LEFT OUTER JOIN customers AS clicked ON clicked.program_id = clicks.program_id
AND clicked.click_id = clicks.click_id
AND true
