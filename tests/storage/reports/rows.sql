-- The rows that each figure of a breakdown counts, with the click, the customer, the sale and the terms behind each.

-- clicks
SELECT k.*, NULL AS joined, NULL AS bought_first, NULL AS details, NULL AS terms, NULL AS sold,
  k.partner_id AS whose, k.at AS millis, 1 AS n
FROM clicks k
WHERE filtered IS NULL;

-- leads
SELECT k.*, COALESCE(c.signup_at, c.created_at) AS joined, c.first_purchase_at AS bought_first,
  NULL AS details, NULL AS terms, NULL AS sold, c.partner_id AS whose, c.signup_at AS millis, 1 AS n
FROM customers c
LEFT JOIN clicks k ON k.program_id = c.program_id AND k.click_id = c.click_id
WHERE c.signup_at IS NOT NULL AND c.status <> 'provisional';

-- conversions
SELECT k.*, COALESCE(c.signup_at, c.created_at) AS joined, c.first_purchase_at AS bought_first,
  NULL AS details, NULL AS terms, NULL AS sold, c.partner_id AS whose, c.first_purchase_at AS millis, 1 AS n
FROM customers c
LEFT JOIN clicks k ON k.program_id = c.program_id AND k.click_id = c.click_id
WHERE c.status = 'conversion';

-- sales
SELECT k.*, COALESCE(c.signup_at, c.created_at) AS joined, c.first_purchase_at AS bought_first, s.details,
  (SELECT m.terms_version FROM commissions m WHERE m.program_id = s.program_id AND m.sale_id = s.id) AS terms,
  s.occurred_at AS sold, s.partner_id AS whose, s.occurred_at AS millis, 1 AS n
FROM sales s
JOIN customers c ON c.program_id = s.program_id AND c.id = s.customer_id
LEFT JOIN clicks k ON k.program_id = c.program_id AND k.click_id = c.click_id
WHERE s.refunded_cents <> s.amount_cents;

-- revenue_cents
SELECT k.*, COALESCE(c.signup_at, c.created_at) AS joined, c.first_purchase_at AS bought_first, s.details,
  (SELECT m.terms_version FROM commissions m WHERE m.program_id = s.program_id AND m.sale_id = s.id) AS terms,
  s.occurred_at AS sold, s.partner_id AS whose, s.occurred_at AS millis,
  s.program_cents - COALESCE((SELECT SUM(r.program_cents) FROM refunds r
    WHERE r.program_id = s.program_id AND r.sale_id = s.id), 0) AS n
FROM sales s
JOIN customers c ON c.program_id = s.program_id AND c.id = s.customer_id
LEFT JOIN clicks k ON k.program_id = c.program_id AND k.click_id = c.click_id;

-- refunded_cents
SELECT k.*, COALESCE(c.signup_at, c.created_at) AS joined, c.first_purchase_at AS bought_first, s.details,
  (SELECT m.terms_version FROM commissions m WHERE m.program_id = s.program_id AND m.sale_id = s.id) AS terms,
  s.occurred_at AS sold, s.partner_id AS whose, s.occurred_at AS millis, r.program_cents AS n
FROM refunds r
JOIN sales s ON s.program_id = r.program_id AND s.id = r.sale_id
JOIN customers c ON c.program_id = s.program_id AND c.id = s.customer_id
LEFT JOIN clicks k ON k.program_id = c.program_id AND k.click_id = c.click_id;

-- commission_cents
SELECT k.*, COALESCE(c.signup_at, c.created_at) AS joined, c.first_purchase_at AS bought_first, s.details,
  m.terms_version AS terms, s.occurred_at AS sold,
  e.partner_id AS whose, m.created_at AS millis, e.amount_cents AS n
FROM ledger_entries e
JOIN commissions m ON m.program_id = e.program_id AND m.id = e.commission_id
LEFT JOIN sales s ON s.program_id = m.program_id AND s.id = m.sale_id
JOIN customers c ON c.program_id = m.program_id AND c.id = m.customer_id
LEFT JOIN clicks k ON k.program_id = c.program_id AND k.click_id = c.click_id
WHERE e.kind IN ('commission', 'reversal', 'reinstatement', 'rejection');
