-- The workspaces of a signed-in user, with the session's own values in each row; of one program's, if it is not 0.
SELECT
    users.id, users.email, users.name AS person, users.theme, users.time_format,
    members.workspace_id, workspaces.name, workspaces.time_zone, workspaces.logo_version, members.role,
    sessions.expires_at, COALESCE(sessions.used_at, sessions.created_at) AS used_at
FROM sessions
JOIN users ON users.id = sessions.user_id
JOIN members ON members.user_id = users.id AND members.status = 'active'
JOIN workspaces ON workspaces.id = members.workspace_id
WHERE sessions.token_hash = :token_hash
    AND sessions.expires_at > :at
    AND COALESCE(sessions.used_at, sessions.created_at) > :idle_since
    AND (:program_id = 0 OR members.workspace_id = (SELECT workspace_id FROM programs WHERE id = :program_id))
ORDER BY members.workspace_id
