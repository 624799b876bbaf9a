-- When each step to a program's first credited sale was first proved; what was imported or reported later proves none.
SELECT
    (
        SELECT partners.created_at
        FROM partners
        WHERE partners.program_id = :program_id
        ORDER BY partners.id LIMIT 1
    ) AS first_partner,
    (
        SELECT test_events.at
        FROM test_events
        WHERE test_events.program_id = :program_id AND test_events.kind = 'click' AND test_events.with_key
        ORDER BY test_events.id LIMIT 1
    ) AS test_click,
    (
        SELECT test_events.at
        FROM test_events
        WHERE test_events.program_id = :program_id AND test_events.kind = 'lead' AND test_events.with_key
        ORDER BY test_events.id LIMIT 1
    ) AS test_lead,
    (
        SELECT test_events.at
        FROM test_events
        WHERE test_events.program_id = :program_id AND test_events.kind = 'sale' AND test_events.with_key
        ORDER BY test_events.id LIMIT 1
    ) AS test_sale,
    (
        SELECT clicks.at
        FROM clicks
        WHERE clicks.program_id = :program_id
            AND clicks.filtered IS NULL
            AND COALESCE(clicks.page_url, '') NOT LIKE '%/programs/%/sample-page%'
        ORDER BY clicks.click_id LIMIT 1
    ) AS live_click,
    (
        SELECT leads.at
        FROM leads
        WHERE leads.program_id = :program_id
            AND leads.settlement = 'settled'
            AND NOT EXISTS (
                SELECT 1
                FROM customers
                JOIN clicks ON clicks.program_id = customers.program_id AND clicks.click_id = customers.click_id
                WHERE customers.program_id = leads.program_id
                    AND customers.id = leads.customer_id
                    AND clicks.filtered = 'import'
            )
        ORDER BY leads.id LIMIT 1
    ) AS live_lead,
    (
        SELECT sales.at
        FROM sales
        WHERE sales.program_id = :program_id
            AND sales.provenance <> 'operator'
            AND sales.at - sales.occurred_at < :most_millis_late
        ORDER BY sales.id LIMIT 1
    ) AS live_sale
