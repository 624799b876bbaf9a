-- The refunds that were made in each part of a window of so many milliseconds: all, or those of one partner's customers.
SELECT
    refunds.at / :millis AS part,
    COUNT(*) AS refunds,
    SUM(refunds.program_cents) AS refunded_cents,
    SUM(refunds.reversed_cents) AS reversed_cents
FROM refunds
WHERE refunds.program_id = :program_id
    AND refunds.id >= :first_id
    AND refunds.at BETWEEN :since AND :last
    AND refunds.amount_cents <> 0
    AND (
        :partner_id IS NULL
        OR EXISTS (
            SELECT 1
            FROM sales
            WHERE sales.program_id = refunds.program_id
                AND sales.id = refunds.sale_id
                AND sales.partner_id = :partner_id
        )
    )
GROUP BY part
ORDER BY part
