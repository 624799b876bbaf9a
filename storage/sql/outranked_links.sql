-- The newest clicks of a program that did not count because their visitors kept the click of another partner.
SELECT clicks.click_id, clicks.partner_id, clicks.at, clicks.visitor
FROM clicks
WHERE clicks.program_id = :program_id AND clicks.filtered = 'first_click'
ORDER BY clicks.click_id DESC
LIMIT :most
