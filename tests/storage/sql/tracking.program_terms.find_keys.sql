-- SQLite
SELECT programs.id,
       programs.currency,
       programs.attribution_window_days,
       programs.hold_days,
       programs.lead_auth_policy,
       programs.terms_version,
       commission_terms.commission_type,
       commission_terms.rate,
       commission_terms.lead_commission_cents,
       commission_terms.recurring_months,
       commission_terms.platform_fee_bps,
       commission_terms.minimum_order_cents,
       payment_accounts.program_id AS has_payments,
       (given_row.value ->> 0) AS key_hash,
       program_keys.flagged_at,
       program_keys.rotate_by,
       retired_program_keys.program_id AS retired_of
FROM json_each(:rows) AS given_row
LEFT OUTER JOIN program_keys ON program_keys.key_hash = (given_row.value ->> 0)
LEFT OUTER JOIN programs ON programs.id = program_keys.program_id
LEFT OUTER JOIN commission_terms ON commission_terms.program_id = programs.id
AND commission_terms.version = programs.terms_version
LEFT OUTER JOIN payment_accounts ON payment_accounts.program_id = programs.id
LEFT OUTER JOIN retired_program_keys ON retired_program_keys.key_hash = (given_row.value ->> 0)

-- PostgreSQL
SELECT programs.id,
       programs.currency,
       programs.attribution_window_days,
       programs.hold_days,
       programs.lead_auth_policy,
       programs.terms_version,
       commission_terms.commission_type,
       commission_terms.rate,
       commission_terms.lead_commission_cents,
       commission_terms.recurring_months,
       commission_terms.platform_fee_bps,
       commission_terms.minimum_order_cents,
       payment_accounts.program_id AS has_payments,
       CAST(given_row.value ->> 0 AS TEXT) AS key_hash,
       program_keys.flagged_at,
       program_keys.rotate_by,
       retired_program_keys.program_id AS retired_of
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
LEFT OUTER JOIN program_keys ON program_keys.key_hash = CAST(given_row.value ->> 0 AS TEXT)
LEFT OUTER JOIN programs ON programs.id = program_keys.program_id
LEFT OUTER JOIN commission_terms ON commission_terms.program_id = programs.id
AND commission_terms.version = programs.terms_version
LEFT OUTER JOIN payment_accounts ON payment_accounts.program_id = programs.id
LEFT OUTER JOIN retired_program_keys ON retired_program_keys.key_hash = CAST(given_row.value ->> 0 AS TEXT)
