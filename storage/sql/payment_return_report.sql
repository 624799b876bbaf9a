-- A refund or a dispute as the processor reported it last; of one second, a dispute that was opened and closed is
-- closed. The totals of a charge are saved beside one another: each step between them was refunded then.
INSERT INTO payment_returns (program_id, reference, return_id, kind, amount_cents, stands, told_at)
VALUES (:program_id, :reference, :return_id, :kind, :amount_cents, :stands, :told_at)
ON CONFLICT (program_id, reference, return_id) DO UPDATE SET
    amount_cents = CASE
        WHEN excluded.kind = 'total' AND payment_returns.amount_cents > excluded.amount_cents
        THEN payment_returns.amount_cents
        ELSE excluded.amount_cents
    END,
    totals = CASE
        WHEN excluded.kind = 'total'
        THEN COALESCE(payment_returns.totals, CAST(payment_returns.amount_cents AS text))
            || ',' || CAST(excluded.amount_cents AS text)
    END,
    stands = excluded.stands,
    told_at = excluded.told_at
WHERE CASE
    WHEN excluded.kind = 'total'
    THEN ',' || COALESCE(payment_returns.totals, CAST(payment_returns.amount_cents AS text)) || ','
        NOT LIKE '%,' || CAST(excluded.amount_cents AS text) || ',%'
    WHEN excluded.kind = 'dispute' AND excluded.stands THEN payment_returns.told_at < excluded.told_at
    ELSE payment_returns.told_at <= excluded.told_at
END
