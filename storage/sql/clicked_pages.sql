-- The pages of a program's first and latest clicks, so many of each, in the order in which they came.
SELECT page.at, page.page_url
FROM (
    SELECT first.click_id, first.at, first.page_url
    FROM (
        SELECT clicks.click_id, clicks.at, clicks.page_url
        FROM clicks WHERE clicks.program_id = :program_id
        ORDER BY clicks.click_id LIMIT :most
    ) AS first
    UNION
    SELECT latest.click_id, latest.at, latest.page_url
    FROM (
        SELECT clicks.click_id, clicks.at, clicks.page_url
        FROM clicks WHERE clicks.program_id = :program_id
        ORDER BY clicks.click_id DESC LIMIT :most
    ) AS latest
) AS page
ORDER BY page.click_id
