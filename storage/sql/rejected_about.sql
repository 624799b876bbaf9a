-- The newest rejected calls about a sale or a click, or by any identifier of a customer: the keys and the click that
-- they carry, and their sales. A flood of rejections makes the read no longer: it looks at the newest calls alone.
SELECT refused_calls.id
FROM refused_calls
WHERE refused_calls.program_id = :program_id
    AND refused_calls.id > COALESCE(
        (
            SELECT newest.id
            FROM refused_calls AS newest
            WHERE newest.program_id = :program_id
            ORDER BY newest.id DESC
            LIMIT 1 OFFSET :most_calls
        ),
        0
    )
    AND (
        refused_calls.transaction_id = :transaction_id
        OR refused_calls.customer_key = :customer_key
        OR refused_calls.click_id = :click_id
        OR refused_calls.customer_key IN (
            SELECT customers.customer_key
            FROM customers
            WHERE customers.program_id = :program_id AND customers.id = :customer_id
        )
        OR refused_calls.customer_key IN (
            SELECT customers.known_as
            FROM customers
            WHERE customers.program_id = :program_id AND customers.id = :customer_id
        )
        OR refused_calls.click_id IN (
            SELECT customers.click_id
            FROM customers
            WHERE customers.program_id = :program_id AND customers.id = :customer_id
        )
        OR refused_calls.transaction_id IN (
            SELECT sales.transaction_id
            FROM sales
            WHERE sales.program_id = :program_id AND sales.customer_id = :customer_id
        )
    )
ORDER BY refused_calls.id DESC
LIMIT :most
