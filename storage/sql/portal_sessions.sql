-- A partner's sessions that have not ended, the newest first; which is that of a token.
SELECT
    SUBSTR(portal_tokens.token_hash, 1, 16) AS id, portal_tokens.client, portal_tokens.created_at,
    portal_tokens.expires_at, portal_tokens.token_hash = :token_hash AS is_current
FROM portal_tokens
WHERE portal_tokens.program_id = :program_id
    AND portal_tokens.partner_id = :partner_id
    AND portal_tokens.kind = 'session'
    AND portal_tokens.expires_at > :at
    AND COALESCE(portal_tokens.used_at, portal_tokens.created_at) > :idle_since
ORDER BY portal_tokens.created_at DESC, portal_tokens.token_hash
