-- Programs with terms, keys (as hashes), caps of agent keys and audit log; partners, flags of fraud, and imports.
-- storage/tables/schema.py reads it: a TIMESTAMP is stored as milliseconds.

CREATE TABLE programs (
    id BIGSERIAL PRIMARY KEY,
    workspace_id BIGINT REFERENCES workspaces (id) NOT NULL,
    name VARCHAR(512) NOT NULL,
    domain VARCHAR(255) NOT NULL,
    further_domains VARCHAR(1024),
    currency VARCHAR(3) DEFAULT 'USD' NOT NULL,
    attribution_model VARCHAR(16) DEFAULT 'last_click' NOT NULL,
    cookie_window_days INTEGER DEFAULT 60 NOT NULL,
    attribution_window_days INTEGER DEFAULT 60 NOT NULL,
    hold_days INTEGER DEFAULT 15 NOT NULL,
    lead_auth_policy VARCHAR(16) DEFAULT 'server_required' NOT NULL,
    paid_ads VARCHAR(16) DEFAULT 'allowed' NOT NULL,
    old_links VARCHAR(16) DEFAULT 'none' NOT NULL,
    minimum_payout_cents BIGINT DEFAULT 0 NOT NULL,
    confirm_payouts BOOLEAN DEFAULT '0' NOT NULL,
    coupon_wins VARCHAR(16) DEFAULT 'click' NOT NULL,
    partners_see_amounts BOOLEAN DEFAULT '0' NOT NULL,
    partners_may_apply BOOLEAN DEFAULT '0' NOT NULL,
    payer_iban VARCHAR(34),
    status VARCHAR(16) DEFAULT 'active' NOT NULL,
    terms_version INTEGER DEFAULT 1 NOT NULL,
    revision INTEGER DEFAULT 1 NOT NULL,
    created_at TIMESTAMP NOT NULL,
    sandbox_of BIGINT REFERENCES programs (id)
);
CREATE UNIQUE INDEX ix_programs_sandbox_of ON programs (sandbox_of);
CREATE INDEX ix_programs_workspace_id ON programs (workspace_id);

CREATE TABLE commission_terms (
    program_id BIGINT,
    version INTEGER,
    commission_type VARCHAR(16) NOT NULL,
    rate BIGINT NOT NULL,
    lead_commission_cents BIGINT NOT NULL,
    recurring_months INTEGER,
    platform_fee_bps INTEGER NOT NULL,
    minimum_order_cents BIGINT DEFAULT 0 NOT NULL,
    commission_basis VARCHAR(16) DEFAULT 'total' NOT NULL,  -- from before it
    by_agent BOOLEAN DEFAULT '0' NOT NULL,
    -- Special terms are of a partner, or of a group, until they end; the others are the program's.
    partner_id BIGINT,
    partner_group VARCHAR(64),
    ended_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, version),
    FOREIGN KEY (program_id) REFERENCES programs (id)
);

CREATE TABLE agent_caps (
    program_id BIGINT REFERENCES programs (id) PRIMARY KEY,
    frozen_settings TEXT,
    rate_step_bps INTEGER,
    rate_change_in_30_days_bps INTEGER,
    highest_rate_bps INTEGER,
    highest_flat_rate_cents BIGINT,
    highest_lead_commission_cents BIGINT,
    two_keys_to_pay BOOLEAN,
    apply_own_plans BOOLEAN,
    commissions_in_a_day INTEGER,
    amount_in_a_day_cents BIGINT,
    referrals_in_a_day INTEGER,
    replayed_calls_in_a_day INTEGER
);

-- What agent keys approved, paid and replayed on a UTC day: the row is locked by each decision that adds to it.
CREATE TABLE agent_decisions (
    program_id BIGINT,
    day DATE,
    status VARCHAR(16),
    commissions INTEGER NOT NULL,
    cents BIGINT NOT NULL,
    PRIMARY KEY (program_id, day, status)
);

-- What the agent API rejected, by agent key and cause; `about` is the cap or the scope.
CREATE TABLE agent_rejections (
    program_id BIGINT,
    agent_key_id BIGINT,
    code VARCHAR(64),
    about VARCHAR(64),
    calls BIGINT NOT NULL,
    first_at TIMESTAMP NOT NULL,
    last_at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, agent_key_id, code, about)
);

CREATE TABLE program_keys (
    program_id BIGINT REFERENCES programs (id) PRIMARY KEY,
    key_hash VARCHAR(64) NOT NULL UNIQUE,
    prefix VARCHAR(8) NOT NULL,
    last4 VARCHAR(4) NOT NULL,
    created_at TIMESTAMP NOT NULL,
    flagged_at TIMESTAMP,
    rotate_by TIMESTAMP
);

CREATE TABLE retired_program_keys (
    key_hash VARCHAR(64) PRIMARY KEY,
    program_id BIGINT REFERENCES programs (id) NOT NULL,
    retired_at TIMESTAMP NOT NULL,
    leaked_at TIMESTAMP  -- when an owner said so: no call with it is kept
);
CREATE INDEX ix_retired_program_keys_program_id ON retired_program_keys (program_id);

CREATE TABLE audit_entries (
    program_id BIGINT,
    id BIGINT,
    actor_type VARCHAR(16) NOT NULL,
    actor_id VARCHAR(64) NOT NULL,
    actor_name VARCHAR(512) NOT NULL,
    action VARCHAR(64) NOT NULL,
    subject_id VARCHAR(64),
    field VARCHAR(64),
    before TEXT,
    after TEXT,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id)
);

CREATE TABLE partners (
    program_id BIGINT,
    id BIGINT,
    name VARCHAR(512) NOT NULL,
    email VARCHAR(255),
    code VARCHAR(255) NOT NULL,
    code_key VARCHAR(255),  -- see storage/rules/attribution.py; NULL: only the code as it is names the partner
    status VARCHAR(16) DEFAULT 'active' NOT NULL,
    notes TEXT,  -- of the workspace, about the partner
    minimum_payout_cents BIGINT,  -- NULL: the program's
    partner_group VARCHAR(64),
    terms_version INTEGER,  -- of the special terms in force for the partner; NULL: the program's apply
    created_at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id),
    UNIQUE (program_id, code),
    FOREIGN KEY (program_id) REFERENCES programs (id)
);
CREATE UNIQUE INDEX ix_partners_code_key ON partners (program_id, code_key);
CREATE INDEX ix_partners_group ON partners (program_id, partner_group);

CREATE TABLE coupons (
    program_id BIGINT,
    id BIGINT,
    partner_id BIGINT NOT NULL,
    code VARCHAR(255) NOT NULL,
    code_key VARCHAR(255) NOT NULL,  -- as of a partner's code
    created_at TIMESTAMP NOT NULL,
    ended_at TIMESTAMP,
    PRIMARY KEY (program_id, id),
    UNIQUE (program_id, code_key),
    FOREIGN KEY (program_id, partner_id) REFERENCES partners (program_id, id)
);
CREATE INDEX ix_coupons_partner ON coupons (program_id, partner_id);

CREATE TABLE flags (
    program_id BIGINT,
    id BIGINT,
    kind VARCHAR(32) NOT NULL,
    subject VARCHAR(128) NOT NULL,  -- what was found: the same finding is never flagged twice
    partner_id BIGINT NOT NULL,
    customer_id BIGINT,
    commission_id BIGINT,
    incident VARCHAR(128),  -- flags of one kind and partner with the same are one finding; NULL: none other
    evidence TEXT NOT NULL,
    state VARCHAR(16) NOT NULL,
    held_from TIMESTAMP NOT NULL,  -- commissions that were created before are not held
    created_at TIMESTAMP NOT NULL,
    decided_at TIMESTAMP,
    decided_by VARCHAR(512),
    decided_by_key_id BIGINT,
    decision_reason TEXT,
    PRIMARY KEY (program_id, id),
    UNIQUE (program_id, kind, subject),
    FOREIGN KEY (program_id, partner_id) REFERENCES partners (program_id, id)
);
CREATE INDEX ix_flags_partner ON flags (program_id, partner_id);

-- of the last hour
CREATE TABLE imports (
    program_id BIGINT,
    id BIGINT,
    undo TEXT NOT NULL,  -- JSON, see storage/management/imports.py
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, id)
);

CREATE TABLE plans (
    program_id BIGINT,
    id BIGINT,
    status VARCHAR(16) NOT NULL,
    reason VARCHAR(512) NOT NULL,
    created_by VARCHAR(512) NOT NULL,
    decided_by VARCHAR(512),
    reverts_id BIGINT,  -- the plan that it takes back
    content TEXT NOT NULL,  -- JSON, see storage/lists/plans.py
    created_at TIMESTAMP NOT NULL,
    expires_at TIMESTAMP NOT NULL,
    decided_at TIMESTAMP,
    apply_at TIMESTAMP,  -- when a scheduled one is applied, in the name of its approver
    approver_type VARCHAR(16),
    approver_id VARCHAR(80),
    PRIMARY KEY (program_id, id)
);

CREATE INDEX ix_plans_due ON plans (apply_at) WHERE status = 'scheduled';

-- of Explore; a read-only link opens one until then
CREATE TABLE saved_views (
    program_id BIGINT,
    id BIGINT,
    name VARCHAR(160) NOT NULL,
    query VARCHAR(2048) NOT NULL,
    shared_until TIMESTAMP,
    PRIMARY KEY (program_id, id)
);

-- the feed: what each transaction changed, by kind
CREATE TABLE changes (
    program_id BIGINT,
    seq BIGINT,
    kind VARCHAR(64) NOT NULL,
    label VARCHAR(64) NOT NULL,
    number BIGINT NOT NULL,
    cents BIGINT NOT NULL,
    ids TEXT NOT NULL,  -- JSON: the first few
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id, seq)
);

-- the last number that a program's feed has
CREATE TABLE change_counters (
    program_id BIGINT,
    seq BIGINT NOT NULL,
    at TIMESTAMP NOT NULL,
    PRIMARY KEY (program_id)
);
