-- The recorded sales of payments, by the processor's names of them.
SELECT
    payment_references.reference, sales.transaction_id, sales.customer_id, sales.partner_id, sales.currency
FROM payment_references
JOIN sales
    ON sales.program_id = payment_references.program_id
    AND sales.transaction_id = payment_references.transaction_id
WHERE payment_references.program_id = :program_id AND payment_references.reference IN :names
