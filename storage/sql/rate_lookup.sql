-- The newest rate of a currency on or before a day.
SELECT
    needed.currency AS currency,
    needed.day_text AS day,
    (
        SELECT per_euro
        FROM currency_rates
        WHERE currency_rates.currency = needed.currency AND currency_rates.day <= needed.day
        ORDER BY currency_rates.day DESC
        LIMIT 1
    ) AS per_euro
FROM jsonb_to_recordset(:rows) AS needed (currency text, day date, day_text text)
