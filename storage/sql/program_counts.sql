-- What a program has now, and what it received since a time.
SELECT
    (
        SELECT COUNT(*)
        FROM clicks
        WHERE clicks.program_id = :program_id AND clicks.click_id >= :first_click_id AND clicks.filtered IS NULL
    ) AS clicks_24h,
    (
        SELECT COUNT(*)
        FROM leads
        WHERE leads.program_id = :program_id
            AND leads.id >= :since_id
            AND leads.at >= :since
            AND leads.settlement = 'settled'
    ) AS leads_24h,
    (
        SELECT COUNT(*)
        FROM sales
        WHERE sales.program_id = :program_id AND sales.id >= :since_id AND sales.at >= :since
    ) AS sales_24h,
    (
        SELECT COUNT(*) FROM partners WHERE partners.program_id = :program_id AND partners.status = 'active'
    ) AS active_partners,
    (
        SELECT COUNT(*)
        FROM commissions
        WHERE commissions.program_id = :program_id AND commissions.status = 'pending'
    ) AS pending_commissions,
    (
        SELECT COUNT(*)
        FROM customers
        WHERE customers.program_id = :program_id
            AND customers.settlement = 'provisional'
            AND customers.status = 'provisional'
    ) AS provisional_leads,
    (  -- without sales of customers whom no partner sent
        SELECT COUNT(*)
        FROM refused_calls
        WHERE refused_calls.program_id = :program_id
            AND refused_calls.id >= :since_id
            AND refused_calls.at >= :since
            AND NOT (refused_calls.call = 'sale' AND refused_calls.code = 'customer_not_found')
    ) AS refused_calls_24h
