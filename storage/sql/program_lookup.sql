-- The terms of programs.
SELECT
    programs.id, programs.currency, programs.attribution_window_days, programs.hold_days, programs.lead_auth_policy,
    commission_terms.version, commission_terms.commission_type, commission_terms.rate,
    commission_terms.lead_commission_cents, commission_terms.recurring_months, commission_terms.platform_fee_bps,
    commission_terms.minimum_order_cents, commission_terms.commission_basis,
    payment_accounts.program_id AS has_payments
FROM jsonb_to_recordset(:rows) AS named (id bigint)
JOIN programs ON programs.id = named.id
JOIN commission_terms
    ON commission_terms.program_id = programs.id AND commission_terms.version = programs.terms_version
LEFT JOIN payment_accounts ON payment_accounts.program_id = programs.id
