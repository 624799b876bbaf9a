-- Rows of tables that 0.2.0 did not have, as the development version of that day stored them, and what is left of
-- program 72.

INSERT INTO users (id, email, password_hash, created_at) VALUES
  (1, '-', '-', 1772323200000);

INSERT INTO invitations (token_hash, expires_at, workspace_id, email, role, created_at) VALUES
  ('-', 1772323200000, 1, '-', 'owner', 1772323200000);

INSERT INTO password_resets (token_hash, expires_at, user_id) VALUES
  ('-', 1772323200000, 1);

INSERT INTO assistants (client_id, name, host, scopes, resource, redirect_uri, code_challenge, id, user_id, workspace_id, connected_at, program_ids) VALUES
  ('-', '-', '-', '-', '-', '-', '-', 1, 1, 1, 1772323200000, '1 70');

INSERT INTO agent_keys (workspace_id, name, last4, scopes, created_at, key_hash, program_ids) VALUES
  (1, '-', '-', '-', 1772323200000, 'a', '71'),
  (1, '-', '-', '-', 1772323200000, 'b', NULL);

INSERT INTO audit_entries (id, actor_type, actor_id, actor_name, action, at, program_id) VALUES
  (2, 'user', '1', '-', '-', 1772323200000, 72);
