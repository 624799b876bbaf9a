-- As which kind of identifier the newest rejected calls of a program name a typed one: the log has no index by them.
SELECT DISTINCT
    CASE
        WHEN log.transaction_id = :typed THEN 'transaction_id'
        WHEN log.customer_key = :typed THEN 'customer_key'
        ELSE 'click_id'
    END AS kind
FROM (
    SELECT transaction_id, customer_key, click_id FROM refused_calls
    WHERE program_id = :program_id
    ORDER BY id DESC
    LIMIT :most
) AS log
WHERE log.transaction_id = :typed OR log.customer_key = :typed OR log.click_id = :typed
