-- A partner's figures, each a sum over the ledger's entries.
WITH held AS (
  SELECT c.id FROM commissions c JOIN flags f ON f.program_id = c.program_id AND f.partner_id = c.partner_id
  WHERE (f.state = 'open' OR f.state = 'confirmed' AND f.customer_id IS NOT NULL)
    AND (f.customer_id = c.customer_id OR f.customer_id IS NULL AND f.kind <> 'unusual_conversion_rate')
    AND f.held_from <= c.created_at AND c.status IN ('pending', 'approved')
), entries AS (
  SELECT e.*, coalesce(c.status, 'paid') AS status, c.hold_until > :now AS waits,
    e.commission_id IS NOT NULL AND e.commission_id IN (SELECT id FROM held) AS is_held
  FROM ledger_entries e LEFT JOIN commissions c ON c.program_id = e.program_id AND c.id = e.commission_id
  WHERE e.program_id = :program AND e.kind NOT LIKE 'platform%'
)
SELECT sum(CASE WHEN status = 'pending' AND NOT is_held THEN amount_cents ELSE 0 END) AS pending_cents,
  sum(CASE WHEN status = 'pending' AND NOT is_held AND NOT waits THEN amount_cents ELSE 0 END) AS ready_cents,
  sum(CASE WHEN is_held THEN amount_cents ELSE 0 END) AS flagged_cents,
  sum(CASE WHEN kind IN ('payout', 'set_off') THEN -amount_cents ELSE 0 END) AS paid_cents,
  sum(CASE WHEN status = 'paid' THEN amount_cents ELSE 0 END) AS settled_cents,
  sum(CASE WHEN status = 'approved' AND NOT is_held THEN amount_cents ELSE 0 END) AS free_cents,
  sum(CASE WHEN kind NOT IN ('payout', 'set_off') THEN amount_cents ELSE 0 END) AS earned_cents
FROM entries WHERE partner_id = :partner
