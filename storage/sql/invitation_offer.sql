-- What the link of an invitation offers, and whose account has its e-mail address: `user_id` if it is in any workspace.
-- One that an owner created is in force while they are one; the operator's is until it expires.
SELECT
    invitations.id, invitations.workspace_id, workspaces.name AS workspace, invitations.email, invitations.role,
    invitations.mailed_hash, users.id AS account_id,
    (SELECT MIN(members.user_id) FROM members WHERE members.user_id = users.id) AS user_id
FROM invitations
JOIN workspaces ON workspaces.id = invitations.workspace_id
LEFT JOIN users ON users.email = invitations.email
WHERE invitations.token_hash = :token_hash
    AND invitations.expires_at > :at
    AND (
        invitations.created_by IS NULL
        OR EXISTS (
            SELECT 1
            FROM members
            WHERE members.workspace_id = invitations.workspace_id
                AND members.user_id = invitations.created_by
                AND members.role = 'owner'
                AND members.status = 'active'
        )
    )
