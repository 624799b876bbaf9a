-- The error codes of a program's newest rejected calls in a span, the most frequent first, without sales of customers
-- whom no partner sent; and, a row for each currency, the money at stake in rejected sales: each transaction once,
-- without those that are recorded. A conflicting sale is at stake although its transaction_id is recorded.
WITH calls AS (
    SELECT *
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
        AND NOT (refused_calls.call = 'sale' AND refused_calls.code = 'customer_not_found')
)
SELECT causes.code, causes.calls, causes.first_at, causes.last_at, at_stake.currency, at_stake.cents
FROM (
    SELECT code, COUNT(*) AS calls, MIN(at) AS first_at, MAX(at) AS last_at
    FROM calls
    GROUP BY code
) AS causes
LEFT JOIN (
    SELECT lost.code, lost.currency, SUM(lost.cents) AS cents
    FROM (
        SELECT code, currency, MAX(amount_cents) AS cents
        FROM calls
        WHERE call = 'sale'
            AND currency IS NOT NULL
            AND amount_cents IS NOT NULL
            AND (
                (code = 'duplicate_transaction' AND NOT same_payload)
                OR NOT EXISTS (
                    SELECT 1
                    FROM sales
                    WHERE sales.program_id = :program_id AND sales.transaction_id = calls.transaction_id
                )
            )
        GROUP BY code, currency, COALESCE(transaction_id, request_id)
    ) AS lost
    GROUP BY lost.code, lost.currency
) AS at_stake ON at_stake.code = causes.code
ORDER BY causes.calls DESC, causes.code, at_stake.currency
