INSERT INTO leads (
    program_id, id, customer_id, partner_id, settlement, with_key, event_name, address_hash, outranked_by,
    outranked_at, at
)
SELECT lead.*
FROM jsonb_to_recordset(:rows) AS lead (
    program_id bigint, id bigint, customer_id bigint, partner_id bigint, settlement varchar(16), with_key boolean,
    event_name text, address_hash varchar(24), outranked_by bigint, outranked_at bigint, at bigint
)
