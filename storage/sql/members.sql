-- The members of a workspace, owners first, then in the order of joining; one of them by their id or e-mail address.
SELECT
    users.id AS user_id, users.email, members.role, members.status, members.created_at, users.name,
    users.email_proven_at IS NOT NULL AS is_email_proven
FROM members
JOIN users ON users.id = members.user_id
WHERE members.workspace_id = :workspace_id
    AND (:user_id = 0 OR users.id = :user_id)
    AND (:email = '' OR users.email = :email)
ORDER BY CASE WHEN members.role = 'owner' THEN 0 ELSE 1 END, members.created_at, users.id
