-- SQLite
INSERT INTO key_callers (program_id, key_hash, call, user_agent, network_hash, calls, first_at, last_at)
SELECT (given_row.value ->> 0) AS anon_1,
       (given_row.value ->> 1) AS anon_2,
       (given_row.value ->> 2) AS anon_3,
       (given_row.value ->> 3) AS anon_4,
       (given_row.value ->> 4) AS anon_5,
       (given_row.value ->> 5) AS anon_6,
       (given_row.value ->> 6) AS anon_7,
       (given_row.value ->> 7) AS anon_8
FROM json_each(:rows) AS given_row
WHERE 1 = 1 ON CONFLICT (program_id,
                         key_hash,
                         call,
                         user_agent,
                         network_hash) DO
  UPDATE
  SET calls = (key_callers.calls + excluded.calls),
      first_at = CASE
                     WHEN (excluded.first_at < key_callers.first_at) THEN excluded.first_at
                     ELSE key_callers.first_at
                 END,
                 last_at = CASE
                               WHEN (excluded.last_at > key_callers.last_at) THEN excluded.last_at
                               ELSE key_callers.last_at
                           END

-- PostgreSQL
INSERT INTO key_callers (program_id, key_hash, call, user_agent, network_hash, calls, first_at, last_at)
SELECT CAST(given_row.value ->> 0 AS BIGINT) AS anon_1,
       CAST(given_row.value ->> 1 AS TEXT) AS anon_2,
       CAST(given_row.value ->> 2 AS TEXT) AS anon_3,
       CAST(given_row.value ->> 3 AS TEXT) AS anon_4,
       CAST(given_row.value ->> 4 AS TEXT) AS anon_5,
       CAST(given_row.value ->> 5 AS BIGINT) AS anon_6,
       CAST(given_row.value ->> 6 AS BIGINT) AS anon_7,
       CAST(given_row.value ->> 7 AS BIGINT) AS anon_8
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
WHERE true ON CONFLICT (program_id,
                        key_hash,
                        call,
                        user_agent,
                        network_hash) DO
  UPDATE
  SET calls = (key_callers.calls + excluded.calls),
      first_at = CASE
                     WHEN (excluded.first_at < key_callers.first_at) THEN excluded.first_at
                     ELSE key_callers.first_at
                 END,
                 last_at = CASE
                               WHEN (excluded.last_at > key_callers.last_at) THEN excluded.last_at
                               ELSE key_callers.last_at
                           END
