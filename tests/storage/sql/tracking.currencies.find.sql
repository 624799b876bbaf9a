-- SQLite
SELECT (given_row.value ->> 0) AS code,
       (given_row.value ->> 2) AS on_day,

  (SELECT currency_rates.per_euro
   FROM currency_rates
   WHERE currency_rates.currency = (given_row.value ->> 0)
     AND currency_rates.day <= (given_row.value ->> 1)
   ORDER BY currency_rates.day DESC
   LIMIT 1
   OFFSET 0) AS newest,

  (SELECT currency_rates.per_euro
   FROM currency_rates
   WHERE currency_rates.currency = (given_row.value ->> 0)
   ORDER BY currency_rates.day
   LIMIT 1
   OFFSET 0) AS oldest
FROM json_each(:rows) AS given_row

-- PostgreSQL
SELECT CAST(given_row.value ->> 0 AS TEXT) AS code,
       CAST(given_row.value ->> 2 AS TEXT) AS on_day,

  (SELECT currency_rates.per_euro
   FROM currency_rates
   WHERE currency_rates.currency = CAST(given_row.value ->> 0 AS TEXT)
     AND currency_rates.day <= CAST(given_row.value ->> 1 AS DATE)
   ORDER BY currency_rates.day DESC
   LIMIT 1::INTEGER) AS newest,

  (SELECT currency_rates.per_euro
   FROM currency_rates
   WHERE currency_rates.currency = CAST(given_row.value ->> 0 AS TEXT)
   ORDER BY currency_rates.day
   LIMIT 1::INTEGER) AS oldest
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
