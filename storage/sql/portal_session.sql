-- The partner of a session and their program, unless the session has ended or their e-mail address has changed.
SELECT
    portal_tokens.program_id, portal_tokens.partner_id, partners.name, partners.code, partners.email, partners.status,
    programs.name AS program, programs.domain, programs.currency,
    COALESCE(portal_tokens.used_at, portal_tokens.created_at) AS used_at
FROM portal_tokens
JOIN partners ON partners.program_id = portal_tokens.program_id AND partners.id = portal_tokens.partner_id
JOIN programs ON programs.id = portal_tokens.program_id
WHERE portal_tokens.program_id = :program_id
    AND portal_tokens.token_hash = :token_hash
    AND portal_tokens.kind = 'session'
    AND portal_tokens.expires_at > :at
    AND COALESCE(portal_tokens.used_at, portal_tokens.created_at) > :idle_since
    AND COALESCE(partners.email, '') = portal_tokens.email
