-- What the link of an invitation offers. `user_id` is the account with its e-mail address, if it is in any workspace,
-- and `is_mailed` says whether the link is the one that only the mailbox received. It `asks_password` of an account that
-- is in no workspace any more: who invites it does not get it.
-- An invitation that an owner created is in force while they are one; the operator's is until it expires.
SELECT
    invitations.id, invitations.workspace_id, workspaces.name AS workspace, invitations.email, invitations.role,
    (SELECT MIN(members.user_id) FROM members WHERE members.user_id = users.id) AS user_id,
    COALESCE(invitations.mailed_hash, '') = :mailed_hash AS is_mailed,
    COALESCE(invitations.mailed_hash, '') <> :mailed_hash
        AND users.id IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM members WHERE members.user_id = users.id) AS asks_password
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
