-- The partners whom a link signs in, of each program one, unless their e-mail address has changed since.
SELECT portal_tokens.program_id, programs.name AS program, partners.name, portal_tokens.browser_hash
FROM portal_tokens
JOIN partners ON partners.program_id = portal_tokens.program_id AND partners.id = portal_tokens.partner_id
JOIN programs ON programs.id = portal_tokens.program_id
WHERE portal_tokens.token_hash = :token_hash
    AND portal_tokens.kind = 'link'
    AND portal_tokens.expires_at > :at
    AND COALESCE(partners.email, '') = portal_tokens.email
ORDER BY programs.name
