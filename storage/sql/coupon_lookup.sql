-- The coupons with these codes, whose partners are active, with what decides between a coupon and a click.
SELECT
    coupons.program_id, coupons.code_key, coupons.partner_id, coupons.ended_at, programs.coupon_wins, programs.domain,
    terms.version || ' ' || terms.commission_type || ' ' || terms.rate || ' ' || terms.lead_commission_cents || ' '
    || coalesce(CAST(terms.recurring_months AS text), '-') || ' ' || terms.platform_fee_bps || ' '
    || terms.minimum_order_cents || ' ' || terms.commission_basis AS partner_terms
FROM jsonb_to_recordset(:rows) AS call (program_id bigint, code_key text)
JOIN coupons ON coupons.program_id = call.program_id AND coupons.code_key = call.code_key
JOIN programs ON programs.id = call.program_id
JOIN partners
    ON partners.program_id = coupons.program_id
    AND partners.id = coupons.partner_id
    AND partners.program_id = call.program_id
LEFT JOIN commission_terms AS terms ON terms.program_id = partners.program_id AND terms.version = partners.terms_version
WHERE partners.status = 'active'
