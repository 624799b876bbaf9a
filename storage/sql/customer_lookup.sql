-- The customers who carry a customer_key, those of a click, and those known by a key; a new click comes without one.
-- Each with the special terms of their partner, if there are any, as one text: a sale pays for each column.
SELECT
    partners.status AS partner_status, customers.program_id, customers.id, customers.partner_id, customers.click_id,
    customers.clicked_at, customers.created_at, customers.customer_key, customers.confirmed, customers.email_hash,
    customers.email_mask, customers.mailbox_hash, customers.status, customers.settlement, customers.signup_at,
    customers.first_purchase_at, customers.known_as, customers.revision,
    terms.version || ' ' || terms.commission_type || ' ' || terms.rate || ' ' || terms.lead_commission_cents || ' '
    || coalesce(CAST(terms.recurring_months AS text), '-') || ' ' || terms.platform_fee_bps || ' '
    || terms.minimum_order_cents || ' ' || terms.commission_basis AS partner_terms,
    NULL AS of_program_id, NULL AS of_click_id, NULL AS of_partner_id, NULL AS of_clicked_at
FROM jsonb_to_recordset(:rows) AS call (program_id bigint, customer_key text, click_id text)
JOIN customers ON customers.program_id = call.program_id AND customers.customer_key = call.customer_key
LEFT JOIN partners
    ON partners.program_id = customers.program_id
    AND partners.id = customers.partner_id
    AND partners.program_id = call.program_id
LEFT JOIN commission_terms AS terms ON terms.program_id = partners.program_id AND terms.version = partners.terms_version
UNION ALL
SELECT
    partners.status AS partner_status, customers.program_id, customers.id, customers.partner_id, customers.click_id,
    customers.clicked_at, customers.created_at, customers.customer_key, customers.confirmed, customers.email_hash,
    customers.email_mask, customers.mailbox_hash, customers.status, customers.settlement, customers.signup_at,
    customers.first_purchase_at, customers.known_as, customers.revision,
    terms.version || ' ' || terms.commission_type || ' ' || terms.rate || ' ' || terms.lead_commission_cents || ' '
    || coalesce(CAST(terms.recurring_months AS text), '-') || ' ' || terms.platform_fee_bps || ' '
    || terms.minimum_order_cents || ' ' || terms.commission_basis AS partner_terms,
    clicks.program_id AS of_program_id, clicks.click_id AS of_click_id, clicks.partner_id AS of_partner_id,
    clicks.at AS of_clicked_at
FROM jsonb_to_recordset(:rows) AS call (program_id bigint, customer_key text, click_id text)
JOIN clicks ON clicks.program_id = call.program_id AND clicks.click_id = call.click_id
LEFT JOIN partners
    ON partners.program_id = clicks.program_id
    AND partners.id = clicks.partner_id
    AND partners.program_id = call.program_id
LEFT JOIN commission_terms AS terms ON terms.program_id = partners.program_id AND terms.version = partners.terms_version
LEFT JOIN customers
    ON customers.program_id = clicks.program_id
    AND customers.click_id = clicks.click_id
    AND customers.program_id = call.program_id
UNION ALL
SELECT
    partners.status AS partner_status, customers.program_id, customers.id, customers.partner_id, customers.click_id,
    customers.clicked_at, customers.created_at, customers.customer_key, customers.confirmed, customers.email_hash,
    customers.email_mask, customers.mailbox_hash, customers.status, customers.settlement, customers.signup_at,
    customers.first_purchase_at, customers.known_as, customers.revision,
    terms.version || ' ' || terms.commission_type || ' ' || terms.rate || ' ' || terms.lead_commission_cents || ' '
    || coalesce(CAST(terms.recurring_months AS text), '-') || ' ' || terms.platform_fee_bps || ' '
    || terms.minimum_order_cents || ' ' || terms.commission_basis AS partner_terms,
    NULL AS of_program_id, NULL AS of_click_id, NULL AS of_partner_id, NULL AS of_clicked_at
FROM jsonb_to_recordset(:rows) AS call (program_id bigint, customer_key text, click_id text)
JOIN customers ON customers.program_id = call.program_id AND customers.known_as = call.customer_key
LEFT JOIN partners
    ON partners.program_id = customers.program_id
    AND partners.id = customers.partner_id
    AND partners.program_id = call.program_id
LEFT JOIN commission_terms AS terms ON terms.program_id = partners.program_id AND terms.version = partners.terms_version
