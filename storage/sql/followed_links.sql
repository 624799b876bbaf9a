-- Clicks of a program, each with what its visitor's browser said, such as the click that it replaced; none that stands
-- for something else than a link, which no browser stores.
SELECT clicks.click_id, clicks.partner_id, clicks.at, clicks.visitor
FROM clicks
WHERE clicks.program_id = :program_id
    AND clicks.click_id IN :click_ids
    AND COALESCE(clicks.filtered, '') NOT IN ('by_hand', 'coupon', 'import', 'referral')
