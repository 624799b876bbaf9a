-- The first sale that another report made and that may be this payment.
SELECT sales.id, sales.transaction_id
FROM sales
WHERE sales.program_id = :program_id
    AND (
        sales.transaction_id = :transaction_id
        OR (
            sales.customer_id = :customer_id AND sales.amount_cents = :amount_cents
            AND sales.currency = :currency AND sales.occurred_at BETWEEN :since AND :until
        )
    )
    AND (
        -- It is the API's, by id or because it is similar.
        sales.transaction_id NOT IN (SELECT transaction_id FROM payment_references WHERE program_id = :program_id)
        -- Or it is a similar payment. One of the two is bare and the other lacks the name of what paid it.
        OR (
            sales.customer_id = :customer_id AND sales.amount_cents = :amount_cents
            AND sales.currency = :currency AND sales.occurred_at BETWEEN :since AND :until
            AND (
                (
                    CAST(:is_bare AS boolean) AND sales.transaction_id NOT IN (
                        SELECT transaction_id FROM payment_references
                        WHERE program_id = :program_id AND (
                            reference LIKE 'pi/_%' ESCAPE '/' OR reference LIKE 'ch/_%' ESCAPE '/'
                            OR reference LIKE 'py/_%' ESCAPE '/'
                        )
                    )
                )
                OR (
                    CAST(:lacks_name AS boolean) AND sales.transaction_id IN (
                        SELECT transaction_id FROM payment_references
                        WHERE program_id = :program_id AND reference = transaction_id AND (
                            reference LIKE 'pi/_%' ESCAPE '/' OR reference LIKE 'ch/_%' ESCAPE '/'
                            OR reference LIKE 'py/_%' ESCAPE '/'
                        )
                    )
                )
            )
        )
    )
ORDER BY sales.id LIMIT 1
