-- The newest rejected leads and sales of a program that came too late after their click, and were not recorded after
-- all. With them are sales of customers who are not known because their lead came too late.
SELECT
    refused_calls.call, refused_calls.transaction_id, refused_calls.amount_cents, refused_calls.at,
    refused_calls.customer_key, refused_calls.click_id, COALESCE(refused_calls.currency, 'USD') AS currency,
    refused_calls.occurred_at
FROM refused_calls
LEFT JOIN sales
    ON sales.program_id = refused_calls.program_id AND sales.transaction_id = refused_calls.transaction_id
WHERE refused_calls.program_id = :program_id
    AND COALESCE(refused_calls.occurred_at, refused_calls.at) >= :since
    AND refused_calls.call IN ('lead', 'sale')
    AND (
        refused_calls.code = 'attribution_window_expired'
        OR refused_calls.code = 'customer_not_found'
        AND refused_calls.customer_key IN (
            SELECT late_leads.customer_key
            FROM refused_calls AS late_leads
            WHERE late_leads.program_id = :program_id
                AND late_leads.call = 'lead'
                AND late_leads.code = 'attribution_window_expired'
        )
    )
    AND (refused_calls.call = 'lead' OR refused_calls.transaction_id IS NOT NULL)
    AND (refused_calls.call = 'lead' OR refused_calls.amount_cents IS NOT NULL)
    AND sales.id IS NULL
ORDER BY refused_calls.id DESC
LIMIT :most
