-- SQLite
SELECT program_keys.key_hash,
       program_keys.program_id,
       program_keys.flagged_at,
       program_keys.rotate_by
FROM json_each(:rows) AS given_row
JOIN program_keys ON program_keys.key_hash = (given_row.value ->> 0)

-- PostgreSQL
SELECT program_keys.key_hash,
       program_keys.program_id,
       program_keys.flagged_at,
       program_keys.rotate_by
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN program_keys ON program_keys.key_hash = CAST(given_row.value ->> 0 AS TEXT)
