-- The newest rate of a currency on or before a day, and the oldest that is loaded.
SELECT
    needed.currency AS currency,
    needed.day_text AS day,
    (
        SELECT per_euro
        FROM currency_rates
        WHERE currency_rates.currency = needed.currency AND currency_rates.day <= needed.day
        ORDER BY currency_rates.day DESC
        LIMIT 1
    ) AS newest,
    (
        SELECT per_euro
        FROM currency_rates
        WHERE currency_rates.currency = needed.currency
        ORDER BY currency_rates.day
        LIMIT 1
    ) AS oldest
FROM jsonb_to_recordset(:rows) AS needed (currency text, day date, day_text text)
