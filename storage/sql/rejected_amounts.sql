-- The money at stake in a program's newest rejected sales in a span, by error code and currency: each transaction once,
-- without those that are recorded. A conflicting sale is at stake although its transaction_id is recorded.
SELECT lost.code, lost.currency, SUM(lost.cents) AS cents
FROM (
    SELECT refused_calls.code, refused_calls.currency, MAX(refused_calls.amount_cents) AS cents
    FROM refused_calls
    WHERE refused_calls.program_id = :program_id
        AND refused_calls.id > COALESCE(
            (
                SELECT newest.id
                FROM refused_calls AS newest
                WHERE newest.program_id = :program_id
                ORDER BY newest.id DESC
                LIMIT 1 OFFSET :most
            ),
            0
        )
        AND refused_calls.id >= :since_id
        AND refused_calls.at >= :since
        AND refused_calls.at < :until
        AND refused_calls.call = 'sale'
        AND refused_calls.currency IS NOT NULL
        AND refused_calls.amount_cents IS NOT NULL
        AND (
            (refused_calls.code = 'duplicate_transaction' AND NOT refused_calls.same_payload)
            OR NOT EXISTS (
                SELECT 1
                FROM sales
                WHERE sales.program_id = refused_calls.program_id
                    AND sales.transaction_id = refused_calls.transaction_id
            )
        )
    GROUP BY
        refused_calls.code, refused_calls.currency, COALESCE(refused_calls.transaction_id, refused_calls.request_id)
) AS lost
GROUP BY lost.code, lost.currency
ORDER BY lost.code, lost.currency
