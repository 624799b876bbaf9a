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
       payment_accounts.program_id AS has_payments
FROM json_each(:rows) AS given_row
JOIN programs ON programs.id = (given_row.value ->> 0)
JOIN commission_terms ON commission_terms.program_id = programs.id
AND commission_terms.version = programs.terms_version
LEFT OUTER JOIN payment_accounts ON payment_accounts.program_id = programs.id

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
       payment_accounts.program_id AS has_payments
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN programs ON programs.id = CAST(given_row.value ->> 0 AS BIGINT)
JOIN commission_terms ON commission_terms.program_id = programs.id
AND commission_terms.version = programs.terms_version
LEFT OUTER JOIN payment_accounts ON payment_accounts.program_id = programs.id
