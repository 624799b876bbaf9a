-- What a typed identifier names in some programs, a kind that `explain` takes beside its value: sales, tests and
-- payments by their ids, a click, customers by key or by e-mail hash, a commission's sale or its lead's customer.
SELECT named.program_id, named.kind, named.value
FROM (
    SELECT program_id, 'transaction_id' AS kind, transaction_id AS value, 1 AS place
    FROM sales WHERE program_id IN :program_ids AND transaction_id = :typed
    UNION ALL
    SELECT program_id, 'transaction_id', transaction_id, 2
    FROM test_events WHERE program_id IN :program_ids AND transaction_id = :typed
    UNION ALL
    SELECT program_id, 'transaction_id', reference, 3
    FROM payment_references WHERE program_id IN :program_ids AND reference = :typed
    UNION ALL
    SELECT program_id, 'transaction_id', name, 4
    FROM payment_event_names WHERE program_id IN :program_ids AND name = :typed
    UNION ALL
    SELECT program_id, 'transaction_id', event_id, 5
    FROM payment_events WHERE program_id IN :program_ids AND event_id = :typed
    UNION ALL
    SELECT program_id, 'click_id', click_id, 6
    FROM clicks WHERE program_id IN :program_ids AND click_id = :typed
    UNION ALL
    SELECT
        program_id, CASE WHEN customer_key <> '' THEN 'customer_key' ELSE 'click_id' END,
        CASE WHEN customer_key <> '' THEN customer_key ELSE click_id END, 7
    FROM customers WHERE program_id IN :program_ids AND (customer_key = :typed OR known_as = :typed)
    UNION ALL
    SELECT
        program_id, CASE WHEN customer_key <> '' THEN 'customer_key' ELSE 'click_id' END,
        CASE WHEN customer_key <> '' THEN customer_key ELSE click_id END, 8
    FROM customers WHERE program_id IN :program_ids AND email_hash = :email_hash
    UNION ALL
    SELECT
        commissions.program_id,
        CASE
            WHEN sales.id IS NOT NULL THEN 'transaction_id'
            WHEN customers.customer_key <> '' THEN 'customer_key'
            ELSE 'click_id'
        END,
        COALESCE(
            sales.transaction_id,
            CASE WHEN customers.customer_key <> '' THEN customers.customer_key ELSE customers.click_id END
        ),
        9
    FROM commissions
    LEFT JOIN sales ON sales.program_id = commissions.program_id AND sales.id = commissions.sale_id
    JOIN customers
        ON customers.program_id = commissions.program_id AND customers.id = commissions.customer_id
    WHERE commissions.program_id IN :program_ids AND commissions.id = :row_id
) AS named
GROUP BY named.program_id, named.kind, named.value
ORDER BY MIN(named.place)
LIMIT :most
