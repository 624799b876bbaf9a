-- Whether a program has an event: leads, sales and refunds have a customer.
SELECT clicks.program_id FROM clicks WHERE clicks.program_id = :program_id
UNION ALL
SELECT customers.program_id FROM customers WHERE customers.program_id = :program_id
UNION ALL
SELECT ledger_entries.program_id FROM ledger_entries WHERE ledger_entries.program_id = :program_id
UNION ALL
SELECT payment_events.program_id FROM payment_events WHERE payment_events.program_id = :program_id
LIMIT 1
