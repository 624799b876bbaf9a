-- What was refunded of sales, then what the payment processor reported as returned on them.
SELECT
    sale.program_id AS program_id, sale.sale_id AS sale_id, refunds.id AS row_id, refunds.refund_id, refunds.request_id,
    refunds.amount_cents, refunds.reported_cents, refunds.reversed_cents, refunds.in_account, NULL AS reference,
    NULL AS kind, NULL AS totals, NULL AS told_at
FROM jsonb_to_recordset(:rows) AS sale (program_id bigint, sale_id bigint, transaction_id varchar(255))
JOIN refunds ON refunds.program_id = sale.program_id AND refunds.sale_id = sale.sale_id
UNION ALL
SELECT
    sale.program_id AS program_id, sale.sale_id AS sale_id, NULL AS row_id, payment_returns.return_id AS refund_id,
    NULL AS request_id, payment_returns.amount_cents, NULL AS reported_cents, NULL AS reversed_cents,
    payment_returns.stands AS in_account, payment_returns.reference, payment_returns.kind, payment_returns.totals,
    payment_returns.told_at
FROM jsonb_to_recordset(:rows) AS sale (program_id bigint, sale_id bigint, transaction_id varchar(255))
JOIN payment_references
    ON payment_references.program_id = sale.program_id
    AND payment_references.transaction_id = sale.transaction_id
JOIN payment_returns
    ON payment_returns.program_id = sale.program_id
    AND payment_returns.reference = payment_references.reference
    AND payment_returns.program_id = payment_references.program_id
