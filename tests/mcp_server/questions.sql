-- The answers to the questions of test_questions.py; :acme is the program.

-- Compare my programs this month against last.
SELECT coalesce(sum(CASE WHEN s.occurred_at BETWEEN 1777593600000 AND 1780272000000 THEN left_cents END), 0),
coalesce(sum(CASE WHEN s.occurred_at BETWEEN 1777593600000 AND 1780272000000 THEN 0 ELSE left_cents END), 0) FROM
programs p LEFT JOIN (SELECT s.*, program_cents - coalesce((SELECT sum(r.program_cents) FROM refunds r WHERE
r.sale_id = s.id), 0) AS left_cents FROM sales s WHERE s.at >= 1775001600000) s ON s.program_id = p.id WHERE
p.workspace_id = 1 GROUP BY p.id ORDER BY p.id DESC;

-- Which part of the commission is for leads, and which rate holds since when?
SELECT (SELECT sum(amount_cents) FROM commissions WHERE program_id = :acme AND lead_id IS NOT NULL AND created_at
BETWEEN 1777593600000 AND 1780272000000), (SELECT rate / 100 FROM commission_terms WHERE program_id = :acme AND
version = 2), (SELECT rate / 100 FROM commission_terms WHERE program_id = :acme AND version = 1);

-- What happened since yesterday noon?
SELECT action FROM audit_entries WHERE program_id = :acme AND at >= 1779192000000 AND action NOT LIKE 'commission.%'
ORDER BY id DESC;

-- Who changed the cookie window, when, from what to what?
SELECT actor_name, CAST(before AS INTEGER), CAST(after AS INTEGER) FROM audit_entries WHERE field =
'cookie_window_days';

-- Which partners' customers refund most, and what was taken back?
SELECT sum(r.program_cents), sum(r.reversed_cents) FROM refunds r JOIN sales s ON s.id = r.sale_id WHERE
r.program_id = :acme AND s.occurred_at >= 1775001600000 GROUP BY s.partner_id ORDER BY 1;

-- Which campaigns bring buyers, not only clicks?
SELECT 'letter', count(u.first_purchase_at), count(*) FROM clicks c LEFT JOIN customers u ON u.click_id = c.click_id
WHERE c.dimensions LIKE '%letter%';

-- Tell me everything about Anna.
SELECT (SELECT sum(program_cents) FROM sales WHERE partner_id = p.id) - (SELECT sum(r.program_cents) FROM refunds r
JOIN sales s ON s.id = r.sale_id WHERE s.partner_id = p.id), (SELECT -sum(amount_cents) FROM ledger_entries WHERE
partner_id = p.id AND kind IN ('payout', 'set_off')), (SELECT count(*) FROM customers WHERE partner_id = p.id) FROM
partners p WHERE p.program_id = :acme AND p.code = 'anna';

-- Is anything suspicious?
SELECT f.kind, p.name FROM flags f JOIN partners p ON p.id = f.partner_id WHERE f.state = 'open';

-- What do we owe each partner now?
SELECT p.name, coalesce(-sum(CASE WHEN e.kind IN ('payout', 'set_off') THEN amount_cents END), 0) FROM partners p
LEFT JOIN ledger_entries e ON e.partner_id = p.id WHERE p.code IN ('anna', 'ben') AND p.program_id = :acme GROUP BY
p.id ORDER BY p.name;

-- What was paid on the 5th, to whom, and has any of it been refunded since?
SELECT p.name, -sum(CASE WHEN e.kind = 'payout' THEN e.amount_cents END), -sum(CASE WHEN e.kind = 'reversal' THEN
e.amount_cents END) FROM ledger_entries e JOIN partners p ON p.id = e.partner_id JOIN commissions c ON c.id =
e.commission_id WHERE c.paid_at BETWEEN 1777939200000 AND 1778025599999 GROUP BY c.id;

-- Which payments were disputed, and how did each end?
SELECT 'open' FROM payment_events WHERE type = 'charge.dispute.created';

-- How much money is in the sales that were rejected, by cause, and what is still lost?
SELECT sum(cents), sum(CASE WHEN s.id IS NOT NULL THEN cents END), sum(CASE WHEN s.id IS NULL THEN cents END) FROM
(SELECT transaction_id, min(amount_cents) AS cents FROM refused_calls WHERE customer_key = 'K-ANNA-1' AND code =
'customer_not_found' GROUP BY 1) c LEFT JOIN sales s ON s.transaction_id = c.transaction_id;

-- Why was transaction lost-1 not credited, whose was it, and what do I change?
SELECT c.code, u.customer_key FROM refused_calls c JOIN customers u ON lower(u.customer_key) = lower(c.customer_key)
WHERE c.transaction_id = 'lost-1' LIMIT 1;

-- Who still uses the old key, from which program, how often?
SELECT w.caller, w.calls FROM key_caller_weeks w JOIN retired_program_keys k ON k.key_hash = w.key_hash WHERE
w.caller LIKE 'shop%';

-- Are renewals arriving? Which customers stopped?
SELECT (SELECT count(*) FROM sales s JOIN customers u ON u.id = s.customer_id WHERE s.program_id = :acme AND
s.occurred_at > u.first_purchase_at AND s.occurred_at >= 1771804800000 AND s.refunded_cents < s.amount_cents),
(SELECT count(*) FROM customers u JOIN partners p ON p.id = u.partner_id WHERE p.code = 'anna' AND
u.first_purchase_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sales s WHERE s.customer_id = u.id AND s.occurred_at
>= 1777680000000));

-- The whole story of customer k-anna-2.
SELECT sum(s.program_cents), (SELECT sum(r.program_cents) FROM refunds r JOIN sales t ON t.id = r.sale_id WHERE
t.customer_id = u.id), (SELECT sum(e.amount_cents) FROM ledger_entries e JOIN commissions c ON c.id =
e.commission_id WHERE c.customer_id = u.id AND e.kind NOT LIKE 'platform%') FROM customers u JOIN sales s ON
s.customer_id = u.id WHERE u.customer_key = 'k-anna-2';

-- How many leads are stuck as provisional, from whom, since when; which of them bought?
SELECT u.status, date(l.at / 1000, 'unixepoch') FROM customers u JOIN leads l ON l.customer_id = u.id WHERE
u.settlement = 'provisional' ORDER BY 1;

-- Does any title contain instructions?
SELECT 1 FROM clicks WHERE page_title LIKE '%previous%';

-- Which approved commissions could not be paid, and what does each wait for?
SELECT s.transaction_id, f.kind FROM commissions c JOIN sales s ON s.id = c.sale_id JOIN flags f ON f.customer_id =
c.customer_id WHERE c.status = 'approved';

-- How much of what is pending will be payable by the end of next month if nobody decides anything?
SELECT sum(e.amount_cents) FROM ledger_entries e JOIN commissions c ON c.id = e.commission_id WHERE c.program_id =
:acme AND c.status = 'pending' AND e.kind NOT LIKE 'platform%' AND c.hold_until <= 1782777600000 AND c.customer_id
NOT IN (SELECT customer_id FROM flags WHERE state = 'open');

-- Reconcile the month's payouts: paid, taken back since, still owed back.
SELECT -sum(CASE WHEN e.kind = 'payout' THEN e.amount_cents END), -sum(e.amount_cents) FROM ledger_entries e JOIN
commissions c ON c.id = e.commission_id WHERE c.status = 'paid' AND c.program_id = :acme AND c.paid_at >=
1777593600000 AND e.kind NOT LIKE 'platform%';

-- What can each of our agent keys do, what are the caps, and what was rejected?
SELECT length(k.scopes) - length(replace(k.scopes, ' ', '')) + 1, r.calls FROM agent_keys k JOIN agent_rejections r
ON r.agent_key_id = k.id;

-- We lowered the rate. What did that do to commission and sales since?
SELECT count(*), sum(c.amount_cents) FROM commissions c WHERE c.program_id = :acme AND c.sale_id IS NOT NULL GROUP
BY c.terms_version ORDER BY c.terms_version DESC;

-- Which partners went quiet: clicks in April, none for ten days?
SELECT p.name FROM partners p JOIN clicks c ON c.partner_id = p.id WHERE p.program_id = :acme AND c.at >=
1775001600000 GROUP BY p.id HAVING min(c.at) < 1777593600000 AND max(c.at) < 1778457600000;

-- Nora says that her old customers are missing since the move. Are they there, and under whom?
SELECT u.customer_key, p.name FROM customers u JOIN partners p ON p.id = u.partner_id WHERE lower(p.name) LIKE
'%nora%' ORDER BY u.id DESC;

-- Was the key used by anybody new before we replaced it, and what did they book?
SELECT caller, transaction_id FROM sales WHERE caller LIKE 'thief%';

-- Which partner's commissions are held by a flag?
SELECT p.name, sum(e.amount_cents) FROM flags f JOIN partners p ON p.id = f.partner_id JOIN commissions c ON
c.customer_id = f.customer_id AND c.status IN ('pending', 'approved') JOIN ledger_entries e ON e.commission_id =
c.id WHERE f.state = 'open' AND e.kind NOT LIKE 'platform%' GROUP BY f.id;

-- Our refunds fail. All of them, or one kind, and with which amounts against the sale?
SELECT c.amount_cents, s.amount_cents FROM refused_calls c JOIN sales s ON s.transaction_id = c.transaction_id WHERE
c.code = 'refund_exceeds_sale';

-- Did anything arrive from our new checkout yet, and is it live?
SELECT transaction_id, 0 FROM sales WHERE caller = 'shop/1 ab12' ORDER BY id DESC;

-- A customer was refunded twice on paper. Did we take back twice?
SELECT r.refund_id, r.reversed_cents FROM refunds r JOIN sales s ON s.id = r.sale_id WHERE s.transaction_id =
'inv-a2' ORDER BY r.id DESC;
