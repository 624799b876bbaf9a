-- The partners' portal: links and sessions (as hashes), what partners are mailed, what they ask, and who applies.
-- storage/tables/schema.py reads it: a TIMESTAMP is stored as milliseconds.

-- A link opens a session once. One that was asked for by e-mail has a row for each program in which a partner has the
-- address; `browser_hash` names the browser that asked, NULL: a manager made the link. Both end when `email` changes.
CREATE TABLE portal_tokens (
    program_id BIGINT,
    token_hash VARCHAR(64),
    kind VARCHAR(8) NOT NULL,
    partner_id BIGINT NOT NULL,
    email VARCHAR(255) NOT NULL,  -- the partner's, empty without one
    browser_hash VARCHAR(64),
    client VARCHAR(255),  -- the name of the browser: untrusted text
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    used_at TIMESTAMP,  -- to the hour; NULL: not since it began
    PRIMARY KEY (program_id, token_hash),
    FOREIGN KEY (program_id, partner_id) REFERENCES partners (program_id, id)
);
CREATE INDEX ix_portal_tokens_partner ON portal_tokens (program_id, partner_id);
CREATE INDEX ix_portal_tokens_token_hash ON portal_tokens (token_hash);

-- A partner has a row once they have signed in, or turned e-mails off.
CREATE TABLE portal_accounts (
    program_id BIGINT,
    partner_id BIGINT,
    mails_payments BOOLEAN DEFAULT '1' NOT NULL,
    mails_summaries BOOLEAN DEFAULT '1' NOT NULL,
    summarized_on DATE NOT NULL,  -- the first day of the newest month of which they know
    PRIMARY KEY (program_id, partner_id),
    FOREIGN KEY (program_id, partner_id) REFERENCES partners (program_id, id)
);

CREATE TABLE sale_questions (
    program_id BIGINT,
    id BIGINT,
    partner_id BIGINT NOT NULL,
    sold_on DATE NOT NULL,
    transaction_id VARCHAR(255) NOT NULL,
    note TEXT,
    created_at TIMESTAMP NOT NULL,
    answer TEXT,
    answered_by VARCHAR(512),
    answered_at TIMESTAMP,
    PRIMARY KEY (program_id, id),
    FOREIGN KEY (program_id, partner_id) REFERENCES partners (program_id, id)
);
CREATE INDEX ix_sale_questions_open ON sale_questions (program_id) WHERE answered_at IS NULL;
CREATE INDEX ix_sale_questions_partner ON sale_questions (program_id, partner_id);

CREATE TABLE partner_applications (
    program_id BIGINT,
    id BIGINT,
    name VARCHAR(512) NOT NULL,
    email VARCHAR(255) NOT NULL,
    site VARCHAR(512) NOT NULL,
    reason TEXT,  -- how they want to promote the program
    state VARCHAR(16) NOT NULL,
    created_at TIMESTAMP NOT NULL,
    decided_by VARCHAR(512),
    decided_at TIMESTAMP,
    partner_id BIGINT,  -- who was enrolled
    PRIMARY KEY (program_id, id)
);
CREATE UNIQUE INDEX ix_partner_applications_waiting ON partner_applications (program_id, email) WHERE state = 'waiting';
