-- The outcomes of the payment account's events in a span, the most frequent first, with the payments that they are about.
SELECT
    payment_events.outcome, COUNT(*) AS events, COUNT(DISTINCT payment_events.transaction_id) AS payments,
    MIN(payment_events.received_at) AS first_at, MAX(payment_events.received_at) AS last_at
FROM payment_events
WHERE payment_events.program_id = :program_id
    AND payment_events.id >= :since_id
    AND payment_events.received_at >= :since
    AND payment_events.received_at < :until
GROUP BY payment_events.outcome
ORDER BY events DESC, payment_events.outcome
