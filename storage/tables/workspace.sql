-- Workspaces, people and how they sign in, agent keys (as hashes), and assistants that signed in by OAuth.
-- storage/tables/schema.py reads it: a TIMESTAMP is stored as milliseconds.

CREATE TABLE workspaces (
    id BIGSERIAL PRIMARY KEY,
    name VARCHAR(512) NOT NULL,
    created_at TIMESTAMP NOT NULL,
    time_zone VARCHAR(64) DEFAULT 'UTC' NOT NULL,
    logo_version VARCHAR(16)  -- changes with the logo; NULL: there is none
);

CREATE TABLE workspace_logos (
    workspace_id BIGINT REFERENCES workspaces (id) PRIMARY KEY,
    media_type VARCHAR(32) NOT NULL,
    content BYTEA NOT NULL
);

CREATE TABLE users (
    id BIGSERIAL PRIMARY KEY,
    email VARCHAR(255) NOT NULL UNIQUE,
    password_hash VARCHAR(255) NOT NULL,
    created_at TIMESTAMP NOT NULL,
    name VARCHAR(255),
    theme VARCHAR(16) DEFAULT 'system' NOT NULL,
    time_format VARCHAR(16) DEFAULT 24 NOT NULL,
    -- when its password was set by a link that went to the mailbox alone; NULL: never, or an owner's link set it since
    email_proven_at TIMESTAMP
);

CREATE TABLE members (
    workspace_id BIGINT REFERENCES workspaces (id),
    user_id BIGINT REFERENCES users (id),
    role VARCHAR(16) NOT NULL,
    status VARCHAR(16) DEFAULT 'active' NOT NULL,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX ix_members_user_id ON members (user_id);

CREATE TABLE invitations (
    id BIGSERIAL PRIMARY KEY,
    token_hash VARCHAR(64) NOT NULL UNIQUE,
    workspace_id BIGINT REFERENCES workspaces (id) NOT NULL,
    email VARCHAR(255) NOT NULL,
    role VARCHAR(16) NOT NULL,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    created_by BIGINT,  -- the owner's user id; NULL: the operator, who answers to no membership
    mailed_hash VARCHAR(64),  -- of the proof that only the e-mailed link has
    UNIQUE (workspace_id, email)
);

CREATE TABLE sessions (
    token_hash VARCHAR(64) PRIMARY KEY,
    user_id BIGINT REFERENCES users (id) NOT NULL,
    client VARCHAR(255),  -- the name of the browser or the device: untrusted text
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    used_at TIMESTAMP  -- to the hour; NULL: not since it began
);
CREATE INDEX ix_sessions_user_id ON sessions (user_id);

CREATE TABLE device_logins (
    device_hash VARCHAR(64) PRIMARY KEY,
    user_code VARCHAR(16) NOT NULL UNIQUE,
    client VARCHAR(255) NOT NULL,
    user_id BIGINT REFERENCES users (id),
    approved BOOLEAN,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    polled_at TIMESTAMP,
    interval_seconds INTEGER DEFAULT 2 NOT NULL
);

CREATE TABLE password_resets (
    token_hash VARCHAR(64) PRIMARY KEY,
    user_id BIGINT REFERENCES users (id) NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    created_by BIGINT,  -- the owner's user id; NULL: the operator, or the holder of the mailbox
    is_mailed BOOLEAN DEFAULT '0' NOT NULL,  -- to the account's own mailbox alone
    usable_at TIMESTAMP  -- an owner's link for another owner waits; NULL: at once
);
CREATE INDEX ix_password_resets_user_id ON password_resets (user_id);

CREATE TABLE second_factors (
    user_id BIGINT REFERENCES users (id) PRIMARY KEY,
    sealed_secret TEXT NOT NULL,
    last_step BIGINT NOT NULL,  -- the time step of the last code that was accepted
    confirmed_at TIMESTAMP
);

CREATE TABLE recovery_codes (
    user_id BIGINT REFERENCES users (id),
    code_hash VARCHAR(64),
    PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE agent_keys (
    id BIGSERIAL PRIMARY KEY,
    workspace_id BIGINT REFERENCES workspaces (id) NOT NULL,
    name VARCHAR(512) NOT NULL,
    key_hash VARCHAR(64) NOT NULL UNIQUE,
    last4 VARCHAR(4) NOT NULL,
    scopes TEXT NOT NULL,
    program_ids TEXT,
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP,
    revoked_at TIMESTAMP,
    last_used_at TIMESTAMP
);
CREATE INDEX ix_agent_keys_workspace_id ON agent_keys (workspace_id);

CREATE TABLE idempotent_answers (
    agent_key_id BIGINT REFERENCES agent_keys (id),
    idempotency_key VARCHAR(255),
    request_hash VARCHAR(64) NOT NULL,
    status INTEGER NOT NULL,
    body TEXT NOT NULL,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (agent_key_id, idempotency_key)
);

CREATE TABLE assistant_clients (
    client_id VARCHAR(512) PRIMARY KEY,
    name VARCHAR(255) NOT NULL,
    redirect_uris TEXT NOT NULL,  -- one on each line
    kept_at TIMESTAMP NOT NULL,
    used_at TIMESTAMP
);

CREATE TABLE assistants (
    id BIGINT PRIMARY KEY,
    client_id VARCHAR(512) NOT NULL,
    name VARCHAR(255) NOT NULL,
    host VARCHAR(255) NOT NULL,
    user_id BIGINT REFERENCES users (id) NOT NULL,
    workspace_id BIGINT REFERENCES workspaces (id) NOT NULL,
    scopes TEXT NOT NULL,
    program_ids TEXT NOT NULL,
    resource TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    code_challenge VARCHAR(128) NOT NULL,
    connected_at TIMESTAMP NOT NULL,
    last_used_at TIMESTAMP
);
CREATE INDEX ix_assistants_client_id ON assistants (client_id);
CREATE INDEX ix_assistants_user_id ON assistants (user_id);
CREATE INDEX ix_assistants_workspace_id ON assistants (workspace_id);

CREATE TABLE assistant_tokens (
    token_hash VARCHAR(64) PRIMARY KEY,
    assistant_id BIGINT REFERENCES assistants (id) NOT NULL,
    kind VARCHAR(8) NOT NULL,
    scopes TEXT NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    spent_at TIMESTAMP
);
CREATE INDEX ix_assistant_tokens_assistant_id ON assistant_tokens (assistant_id);
CREATE INDEX ix_assistant_tokens_expires_at ON assistant_tokens (expires_at);
