-- An agent key, and the program that its call is about if that is one of the key's workspace.
SELECT
    agent_keys.id, agent_keys.workspace_id, agent_keys.name, agent_keys.key_hash, agent_keys.last4, agent_keys.scopes,
    agent_keys.program_ids, agent_keys.created_at, agent_keys.expires_at, agent_keys.revoked_at,
    agent_keys.last_used_at, programs.id AS reached
FROM jsonb_to_recordset(:rows) AS presented (key_hash text, program_id bigint)
JOIN agent_keys ON agent_keys.key_hash = presented.key_hash
LEFT JOIN programs ON programs.id = presented.program_id AND programs.workspace_id = agent_keys.workspace_id
