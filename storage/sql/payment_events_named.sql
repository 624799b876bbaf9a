-- The newest events with one of some names; with one outcome, if that is not empty.
SELECT payment_events.*
FROM payment_events
JOIN payment_event_names
    ON payment_event_names.program_id = payment_events.program_id
    AND payment_event_names.event_id = payment_events.event_id
WHERE payment_event_names.program_id = :program_id
    AND payment_event_names.name IN :names
    AND (:outcome = '' OR payment_events.outcome = :outcome)
ORDER BY payment_events.id DESC
LIMIT :most
