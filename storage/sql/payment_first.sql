-- When the first event of the payment account in a span was received.
SELECT payment_events.received_at
FROM payment_events
WHERE payment_events.program_id = :program_id
    AND payment_events.id >= :since_id
    AND payment_events.received_at >= :since
    AND payment_events.received_at < :until
ORDER BY payment_events.id LIMIT 1
