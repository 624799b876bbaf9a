-- The programs of a person's workspaces: by workspace, then by name.
SELECT
    programs.id, programs.name, programs.workspace_id, workspaces.name AS workspace,
    programs.sandbox_of IS NOT NULL AS is_sandbox
FROM programs
JOIN workspaces ON workspaces.id = programs.workspace_id
JOIN members ON members.workspace_id = workspaces.id
WHERE members.user_id = :user_id AND members.status = 'active'
ORDER BY programs.workspace_id, programs.name, programs.id
LIMIT :most
