-- The program of each key, with its terms; for a key that was replaced, only the program that it belonged to.
SELECT
    programs.id, programs.currency, programs.attribution_window_days, programs.hold_days, programs.lead_auth_policy,
    commission_terms.version, commission_terms.commission_type, commission_terms.rate,
    commission_terms.lead_commission_cents, commission_terms.recurring_months, commission_terms.platform_fee_bps,
    commission_terms.minimum_order_cents, commission_terms.commission_basis,
    payment_accounts.program_id AS has_payments,
    presented.key_hash AS key_hash, program_keys.flagged_at, program_keys.rotate_by,
    retired_program_keys.program_id AS retired_of, retired_program_keys.retired_at, retired_program_keys.leaked_at
FROM jsonb_to_recordset(:rows) AS presented (key_hash text)
LEFT JOIN program_keys ON program_keys.key_hash = presented.key_hash
LEFT JOIN programs ON programs.id = program_keys.program_id
LEFT JOIN commission_terms
    ON commission_terms.program_id = programs.id AND commission_terms.version = programs.terms_version
LEFT JOIN payment_accounts ON payment_accounts.program_id = programs.id
LEFT JOIN retired_program_keys ON retired_program_keys.key_hash = presented.key_hash
