-- The customer keys that sales named, and that the newest 2,000 conflicting calls since an id named beside a click.
SELECT sales.customer_id, sales.customer_key
FROM sales
WHERE sales.program_id = :program_id AND sales.customer_id IN :customer_ids AND sales.customer_key IS NOT NULL
UNION
SELECT customers.id, conflicts.customer_key
FROM customers
JOIN (
    SELECT refused_calls.click_id, refused_calls.customer_key
    FROM refused_calls
    WHERE refused_calls.program_id = :program_id
        AND refused_calls.id >= :since_id
        AND refused_calls.code = 'identifier_conflict'
        AND refused_calls.click_id IS NOT NULL
        AND refused_calls.customer_key IS NOT NULL
    ORDER BY refused_calls.id DESC
    LIMIT 2000
) AS conflicts ON conflicts.click_id = customers.click_id
WHERE customers.program_id = :program_id AND customers.id IN :customer_ids
