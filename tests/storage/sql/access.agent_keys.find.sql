-- SQLite
SELECT agent_keys.id,
       agent_keys.workspace_id,
       agent_keys.name,
       agent_keys.key_hash,
       agent_keys.last4,
       agent_keys.scopes,
       agent_keys.program_ids,
       agent_keys.created_at,
       agent_keys.expires_at,
       agent_keys.revoked_at,
       agent_keys.last_used_at,
       programs.id AS reached
FROM json_each(:rows) AS given_row
JOIN agent_keys ON agent_keys.key_hash = (given_row.value ->> 0)
LEFT OUTER JOIN programs ON programs.id = (given_row.value ->> 1)
AND programs.workspace_id = agent_keys.workspace_id

-- PostgreSQL
SELECT agent_keys.id,
       agent_keys.workspace_id,
       agent_keys.name,
       agent_keys.key_hash,
       agent_keys.last4,
       agent_keys.scopes,
       agent_keys.program_ids,
       agent_keys.created_at,
       agent_keys.expires_at,
       agent_keys.revoked_at,
       agent_keys.last_used_at,
       programs.id AS reached
FROM jsonb_array_elements(CAST(:rows::VARCHAR AS TEXT)::jsonb) AS given_row
JOIN agent_keys ON agent_keys.key_hash = CAST(given_row.value ->> 0 AS TEXT)
LEFT OUTER JOIN programs ON programs.id = CAST(given_row.value ->> 1 AS BIGINT)
AND programs.workspace_id = agent_keys.workspace_id
