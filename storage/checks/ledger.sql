-- What `ledger.py` recomputes refunds, commissions, platform fees and balances from. Amounts are in cents.

-- Sales with refunds, by their own account or by their refunds'.
SELECT
    sales.program_id, sales.id, sales.transaction_id, sales.amount_cents, sales.program_cents, sales.refunded_cents,
    COALESCE(back.cents, 0) AS back_cents, COALESCE(back.program_cents, 0) AS back_program_cents
FROM sales
LEFT JOIN (
    SELECT program_id, sale_id, SUM(amount_cents) AS cents, SUM(program_cents) AS program_cents
    FROM refunds
    GROUP BY program_id, sale_id
) AS back ON back.program_id = sales.program_id AND back.sale_id = sales.id
WHERE sales.refunded_cents <> 0 OR back.sale_id IS NOT NULL;

-- Commissions with their terms and cause, and what their entries add up to: as a whole, at first, after their payout.
SELECT
    commissions.program_id, commissions.id, commissions.partner_id, commissions.status, commissions.amount_cents,
    commission_terms.platform_fee_bps, sales.amount_cents AS sale_cents, leads.settlement AS lead_settlement,
    COALESCE(back.cents, 0) AS back_cents, COALESCE(net.earned_cents, 0) AS earned_cents,
    COALESCE(net.net_cents, 0) AS net_cents, COALESCE(net.payout_cents, 0) AS payout_cents,
    COALESCE(net.after_cents, 0) AS after_cents, COALESCE(net.fee_cents, 0) AS fee_cents,
    COALESCE(net.net_fee_cents, 0) AS net_fee_cents
FROM commissions
JOIN commission_terms
    ON commission_terms.program_id = commissions.program_id AND commission_terms.version = commissions.terms_version
LEFT JOIN sales ON sales.program_id = commissions.program_id AND sales.id = commissions.sale_id
LEFT JOIN leads ON leads.program_id = commissions.program_id AND leads.id = commissions.lead_id
LEFT JOIN (
    SELECT program_id, sale_id, SUM(amount_cents) AS cents FROM refunds GROUP BY program_id, sale_id
) AS back ON back.program_id = sales.program_id AND back.sale_id = sales.id
LEFT JOIN (
    SELECT
        entry.program_id, entry.commission_id,
        SUM(CASE WHEN entry.kind = 'commission' THEN entry.amount_cents ELSE 0 END) AS earned_cents,
        SUM(
            CASE
                WHEN entry.kind IN ('commission', 'reversal', 'reinstatement', 'rejection') THEN entry.amount_cents
                ELSE 0
            END
        ) AS net_cents,
        SUM(CASE WHEN entry.kind = 'payout' THEN entry.amount_cents ELSE 0 END) AS payout_cents,
        SUM(
            CASE
                WHEN entry.kind IN ('commission', 'reversal', 'reinstatement', 'rejection')
                    AND entry.id > payout.id THEN entry.amount_cents
                ELSE 0
            END
        ) AS after_cents,
        SUM(CASE WHEN entry.kind = 'platform_fee' THEN entry.amount_cents ELSE 0 END) AS fee_cents,
        SUM(
            CASE
                WHEN entry.kind IN ('platform_fee', 'platform_fee_reversal', 'platform_fee_reinstatement')
                    THEN entry.amount_cents
                ELSE 0
            END
        ) AS net_fee_cents
    FROM ledger_entries AS entry
    LEFT JOIN (
        SELECT program_id, commission_id, MAX(id) AS id
        FROM ledger_entries
        WHERE kind = 'payout'
        GROUP BY program_id, commission_id
    ) AS payout ON payout.program_id = entry.program_id AND payout.commission_id = entry.commission_id
    GROUP BY entry.program_id, entry.commission_id
) AS net ON net.program_id = commissions.program_id AND net.commission_id = commissions.id;

-- What each partner's account adds up to, and what of it no commission says: adjustments and what was set off.
SELECT
    program_id, partner_id, SUM(amount_cents) AS cents,
    SUM(CASE WHEN kind IN ('adjustment', 'set_off') THEN amount_cents ELSE 0 END) AS adjusted_cents
FROM ledger_entries
WHERE kind IN ('commission', 'reversal', 'reinstatement', 'rejection', 'payout', 'set_off', 'adjustment')
GROUP BY program_id, partner_id
