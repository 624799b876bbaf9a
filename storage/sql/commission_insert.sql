INSERT INTO commissions (
    program_id, id, partner_id, customer_id, sale_id, lead_id, terms_version, amount_cents, currency, status,
    created_at, hold_until
)
SELECT commission.*
FROM jsonb_to_recordset(:rows) AS commission (
    program_id bigint, id bigint, partner_id bigint, customer_id bigint, sale_id bigint, lead_id bigint,
    terms_version integer, amount_cents bigint, currency varchar(3), status varchar(16), created_at bigint,
    hold_until bigint
)
