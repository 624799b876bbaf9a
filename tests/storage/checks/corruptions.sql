-- What is done to the demo's database; the line before each says what the check reports beside the daily totals.

-- commission entry, net commission, balance
UPDATE ledger_entries SET amount_cents = amount_cents + 1
WHERE rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = 'commission');

-- net commission, balance
UPDATE ledger_entries SET amount_cents = amount_cents + 1
WHERE rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = 'reversal');

-- net commission, balance
UPDATE ledger_entries SET amount_cents = amount_cents + 1
WHERE rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = 'rejection');

-- payout, balance, paid by the ledger
UPDATE ledger_entries SET amount_cents = amount_cents + 1
WHERE rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = 'payout');

-- platform fee entry, net platform fee
UPDATE ledger_entries SET amount_cents = amount_cents + 1
WHERE rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = 'platform_fee');

-- net platform fee
UPDATE ledger_entries SET amount_cents = amount_cents + 1
WHERE rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = 'platform_fee_reversal');

-- balance, balance
UPDATE ledger_entries SET partner_id = (SELECT id FROM partners
WHERE partners.program_id = ledger_entries.program_id AND id <> partner_id) WHERE rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = 'commission');

-- payout, balance, paid by the ledger
DELETE FROM ledger_entries
WHERE rowid = (SELECT min(rowid) FROM ledger_entries WHERE kind = 'payout');

-- refunded_cents
UPDATE sales SET refunded_cents = 5
WHERE rowid = (SELECT min(rowid) FROM sales WHERE refunded_cents = 0);

-- first purchase in milliseconds
UPDATE customers SET first_purchase_at = first_purchase_at + 1
WHERE rowid = (SELECT min(rowid) FROM customers WHERE status = 'conversion');

-- first purchase in milliseconds
UPDATE customers SET first_purchase_at = NULL
WHERE rowid = (SELECT min(rowid) FROM customers WHERE status = 'conversion');

-- first purchase in milliseconds
UPDATE customers SET first_purchase_at = 5
WHERE rowid = (SELECT min(rowid) FROM customers WHERE status = 'lead');

-- conversion status
UPDATE customers SET status = 'lead'
WHERE rowid = (SELECT min(rowid) FROM customers WHERE status = 'conversion');

-- conversion status
UPDATE customers SET status = 'conversion'
WHERE rowid = (SELECT min(rowid) FROM customers WHERE status = 'lead');

-- clicks without a partner
UPDATE clicks SET partner_id = 404
WHERE click_id = (SELECT min(click_id) FROM clicks WHERE filtered IS NOT NULL);

-- approved_cents, to_pay_cents
UPDATE payout_lines SET approved_cents = approved_cents + 1 WHERE rowid = (SELECT min(rowid) FROM payout_lines);

-- commissions
UPDATE payout_lines SET commissions = commissions + 1 WHERE rowid = (SELECT min(rowid) FROM payout_lines);

-- to_pay_cents, paid by the ledger
UPDATE payout_lines SET to_pay_cents = to_pay_cents + 1 WHERE rowid = (SELECT min(rowid) FROM payout_lines);

-- payout, balance, commissions that are paid
UPDATE commissions SET status = 'approved' WHERE rowid = (SELECT min(rowid) FROM commissions WHERE status = 'paid'
AND id IN (SELECT commission_id FROM payout_items));
