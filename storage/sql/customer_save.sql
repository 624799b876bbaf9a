-- Writes new and changed customers; returns fewer than it got where another transaction has written one first.
INSERT INTO customers (
    program_id, id, partner_id, click_id, clicked_at, created_at, customer_key, confirmed, email_hash, email_mask,
    mailbox_hash, status, settlement, signup_at, first_purchase_at, known_as, revision
)
SELECT customer.*
FROM jsonb_to_recordset(:rows) AS customer (
    program_id bigint, id bigint, partner_id bigint, click_id text, clicked_at bigint, created_at bigint,
    customer_key text, confirmed boolean, email_hash text, email_mask text, mailbox_hash text, status text,
    settlement text, signup_at bigint, first_purchase_at bigint, known_as text, revision bigint
)
WHERE true
ON CONFLICT (program_id, id) DO UPDATE SET
    clicked_at = excluded.clicked_at,
    customer_key = excluded.customer_key,
    confirmed = excluded.confirmed,
    email_hash = excluded.email_hash,
    email_mask = excluded.email_mask,
    mailbox_hash = excluded.mailbox_hash,
    status = excluded.status,
    settlement = excluded.settlement,
    signup_at = excluded.signup_at,
    first_purchase_at = excluded.first_purchase_at,
    known_as = excluded.known_as,
    revision = excluded.revision
WHERE customers.revision = excluded.revision - 1
RETURNING id
