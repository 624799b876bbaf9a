-- Holds the newest event about what was returned of a sale while a person has to decide, and releases the others.
UPDATE payment_events
SET
    outcome = CASE WHEN payment_events.id = newest.id THEN 'held_as_duplicate' ELSE 'recorded' END,
    transaction_id = CASE WHEN payment_events.id = newest.id THEN :transaction_id ELSE payment_events.transaction_id END
FROM (
    SELECT MAX(payment_events.id) AS id
    FROM payment_events
    WHERE payment_events.program_id = :program_id
        AND payment_events.waits_for IN :names
        AND (payment_events.type LIKE 'charge.%' OR payment_events.type LIKE 'refund.%')
        AND CAST(:is_held AS boolean)
) AS newest
WHERE payment_events.program_id = :program_id
    AND payment_events.waits_for IN :names
    AND (payment_events.outcome = 'held_as_duplicate' OR payment_events.id = newest.id)
