INSERT INTO sales (
    program_id, id, transaction_id, customer_id, partner_id, amount_cents, currency, program_cents, tax_cents,
    shipping_cents, details, customer_key, payload_hash, provenance, caller, occurred_at, at
)
SELECT sale.*
FROM jsonb_to_recordset(:rows) AS sale (
    program_id bigint, id bigint, transaction_id varchar(255), customer_id bigint, partner_id bigint,
    amount_cents bigint, currency varchar(3), program_cents bigint, tax_cents bigint,
    shipping_cents bigint, details text, customer_key varchar(255), payload_hash varchar(64), provenance varchar(16),
    caller varchar(192), occurred_at bigint, at bigint
)
