-- 100,000 events of program :p and more, with every text that a stranger sends as large as it may be (:w); :t is now in
-- milliseconds. test_results.py stores them.

CREATE TEMP TABLE series AS WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 90000)
SELECT n FROM counted;

INSERT INTO clicks (program_id, click_id, partner_id, at, landing_url, page_url, page_title, referrer_url, visitor)
SELECT :p, printf('%012x%020x-%x', :t - n * 1000, n, :p), :anna, :t - n, n || :w, n || :w, n || :w, n || :w, '{}'
FROM series;

INSERT INTO customers (program_id, id, partner_id, click_id, clicked_at, customer_key, status, settlement,
signup_at, first_purchase_at, revision, created_at)
SELECT :p, n, :anna, 'c' || n, :t, n || :w, 'conversion', 'settled', :t, :t, 1, :t FROM series WHERE n <= 2500;

INSERT INTO leads (program_id, id, customer_id, partner_id, settlement, with_key, event_name, at)
SELECT :p, n, n, :anna, 'settled', 1, :w, :t - n FROM series WHERE n <= 2500;

INSERT INTO sales (program_id, id, transaction_id, customer_id, partner_id, amount_cents, currency,
program_cents, customer_key, payload_hash, occurred_at, at)
SELECT :p, n, n || :w, n, :anna, 100, 'USD', 100, n || :w, '', :t, :t - n FROM series WHERE n <= 2500;

INSERT INTO commissions (program_id, id, partner_id, customer_id, sale_id, terms_version, amount_cents, currency,
status, created_at, hold_until)
SELECT :p, n, :anna, n, n, 1, 20, 'USD', 'pending', :t, :t FROM series WHERE n <= 2500;

INSERT INTO refused_calls (program_id, id, call, code, message, fields, customer_key, click_id,
transaction_id, amount_cents, currency, request_id, at)
SELECT :p, n, 'sale', 'customer_not_attributed', 'x', :w, 'lost', :w, 'lost', n, 'USD', 'r', :t - n FROM series
WHERE n <= 2500;

INSERT INTO partners (program_id, id, name, code, status, created_at)
SELECT :p, n, n || :w, 'p' || n, 'active', :t FROM series WHERE n <= 2500;
