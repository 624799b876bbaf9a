-- Rows as 0.2.0 stored them; times in milliseconds, those of March 2026-03-01.
-- Commission 11 was paid, then half of its sale was refunded; half of sale 12 was refunded, then its commission was paid;
-- commission 13 was approved with an agent key.

INSERT INTO workspaces (id, name, created_at) VALUES
  (1, 'Acme', 1772323200000);

INSERT INTO programs (id, workspace_id, name, domain, created_at) VALUES
  (1, 1, 'Acme', 'acme.example', 1772323200000);

INSERT INTO commission_terms (program_id, version, commission_type, rate, created_at, lead_commission_cents, platform_fee_bps) VALUES
  (1, 1, 'percent', 2000, 1772323200000, 0, 1000);

INSERT INTO partners (program_id, status, created_at, id, name, code) VALUES
  (1, 'active', 1772323200000, 1, 'Anna', 'anna'),
  (1, 'active', 1772323200000, 2, 'Ben', 'b');

INSERT INTO clicks (program_id, click_id, partner_id, at, landing_url) VALUES
  (1, 'c1', 1, 1772323200000, '/'),
  (1, 'c2', 2, 1772323200000, '/');

INSERT INTO customers (program_id, clicked_at, status, settlement, revision, id, partner_id, click_id, created_at) VALUES
  (1, 1772323200000, 'conversion', 'settled', 1, 1, 1, 'c1', 1772323200000),
  (1, 1772323200000, 'conversion', 'settled', 1, 2, 2, 'c2', 1772323200000);

INSERT INTO leads (program_id, id, customer_id, partner_id, settlement, with_key, at) VALUES
  (1, 1, 1, 1, 'settled', TRUE, 1772323200000),
  (1, 2, 2, 2, 'settled', FALSE, 1772323200000);

INSERT INTO sales (program_id, amount_cents, currency, program_cents, payload_hash, occurred_at, at, id, transaction_id, customer_id, partner_id, refunded_cents) VALUES
  (1, 1000, 'USD', 1000, '', 1772323200000, 1772323200000, 11, 'a', 1, 1, 500),
  (1, 1000, 'USD', 1000, '', 1772323200000, 1772323200000, 12, 'b', 1, 1, 500),
  (1, 1000, 'USD', 1000, '', 1772323200000, 1772323200000, 13, 'c', 2, 2, 0);

INSERT INTO refunds (program_id, id, sale_id, amount_cents, program_cents, reversed_cents, at) VALUES
  (1, 11, 11, 500, 500, 100, 1772496000000),
  (1, 12, 12, 500, 500, 100, 1772323200000);

INSERT INTO commissions (program_id, terms_version, amount_cents, currency, hold_until, created_at, id, sale_id, partner_id, customer_id, status, paid_at) VALUES
  (1, 1, 200, 'USD', 1772323200000, 1772323200000, 11, 11, 1, 1, 'paid', 1772409600000),
  (1, 1, 200, 'USD', 1772323200000, 1772323200000, 12, 12, 1, 1, 'paid', 1772409600000),
  (1, 1, 200, 'USD', 1772323200000, 1772323200000, 13, 13, 2, 2, 'approved', NULL);

INSERT INTO ledger_entries (program_id, commission_id, id, kind, amount_cents, partner_id, at) VALUES
  (1, 11, 194486399000000, 'commission', 200, 1, 1772323200000),
  (1, 11, 194486399000001, 'platform_fee', 20, 1, 1772323200000),
  (1, 11, 194486399000002, 'payout', -200, 1, 1772323200000),
  (1, 11, 194486399000003, 'reversal', -100, 1, 1772323200000),
  (1, 11, 194486399000004, 'platform_fee_reversal', -10, 1, 1772323200000),
  (1, 12, 194486399000005, 'commission', 200, 1, 1772323200000),
  (1, 12, 194486399000006, 'platform_fee', 20, 1, 1772323200000),
  (1, 12, 194486399000007, 'reversal', -100, 1, 1772323200000),
  (1, 12, 194486399000008, 'platform_fee_reversal', -10, 1, 1772323200000),
  (1, 12, 194486399000009, 'payout', -100, 1, 1772323200000),
  (1, 13, 194486399000010, 'commission', 200, 2, 1772323200000),
  (1, 13, 194486399000011, 'platform_fee', 20, 2, 1772323200000);

INSERT INTO audit_entries (program_id, id, actor_type, actor_id, actor_name, at, action, subject_id, field, after) VALUES
  (1, 1, 'agent_key', '7', 'A key', 1772323200000, 'commission.decide', '13', 'status', '"approved"');

INSERT INTO test_events (program_id, id, kind, is_test, with_key, at) VALUES
  (1, 1, 'sale', TRUE, TRUE, 1772323200000);

INSERT INTO refused_calls (program_id, id, call, code, status, message, at) VALUES
  (1, 1, 'sale', 'not_found', 400, '-', 1772323200000);

INSERT INTO payment_accounts (program_id, provider, account_id, sealed_secrets, connected_at) VALUES
  (1, 'stripe', 'acct_1', '', 1772323200000);

INSERT INTO payment_customers (program_id, processor_customer, click_id) VALUES
  (1, 'cus_1', 'c1');

INSERT INTO payment_references (program_id, reference, transaction_id) VALUES
  (1, 'a', 'a'),
  (1, 'i', 'b');

INSERT INTO payment_events (program_id, event_id, id, type, outcome, payment, occurred_at, received_at) VALUES
  (1, 'evt_0', 0, 'invoice.paid', 'recorded', '{"version": 1, "transaction_id": "a", "references": ["a"], "processor_customer": "cus_1"}', 1772323200000, 1772323200000),
  (1, 'evt_1', 1, 'invoice.paid', 'waiting', '{"version": 1, "transaction_id": "x", "references": ["x", "pi"], "click_id": null}', 1772323200000, 1772323200000),
  (1, 'evt_2', 2, 'invoice.paid', 'waiting', '{"version": 1, "transaction_id": "y", "references": ["y"], "customer_key": "user-9"}', 1772323200000, 1772323200000),
  (1, 'evt_3', 3, 'invoice.paid', 'waiting', '{"Returned": {"reference": "z", "return_id": "re"}}', 1772323200000, 1772323200000);
