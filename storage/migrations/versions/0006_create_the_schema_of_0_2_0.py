"""Create the schema of 0.2.0"""

import re

from alembic import op

revision = "0006"
down_revision = None
branch_labels = None
depends_on = None

SCHEMA = """
CREATE TABLE assistant_clients (
    client_id VARCHAR(512) NOT NULL, name VARCHAR(255) NOT NULL, redirect_uris TEXT NOT NULL, kept_at BIGINT NOT NULL,
    used_at BIGINT,
    CONSTRAINT pk_assistant_clients PRIMARY KEY (client_id));
CREATE TABLE audit_entries (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, actor_type VARCHAR(16) NOT NULL, actor_id VARCHAR(64) NOT NULL,
    actor_name VARCHAR(512) NOT NULL, action VARCHAR(64) NOT NULL, subject_id VARCHAR(64), field VARCHAR(64),
    "before" TEXT, "after" TEXT, at BIGINT NOT NULL,
    CONSTRAINT pk_audit_entries PRIMARY KEY (program_id, id));
CREATE TABLE currency_rates (
    currency VARCHAR(3) NOT NULL, day DATE NOT NULL, per_euro VARCHAR(32) NOT NULL,
    CONSTRAINT pk_currency_rates PRIMARY KEY (currency, day));
CREATE TABLE partner_rollups (
    program_id BIGINT NOT NULL, day DATE NOT NULL, partner_id BIGINT NOT NULL, clicks BIGINT DEFAULT '0' NOT NULL,
    leads BIGINT DEFAULT '0' NOT NULL, conversions BIGINT DEFAULT '0' NOT NULL, sales BIGINT DEFAULT '0' NOT NULL,
    revenue_cents BIGINT DEFAULT '0' NOT NULL, commission_cents BIGINT DEFAULT '0' NOT NULL,
    partners BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT pk_partner_rollups PRIMARY KEY (program_id, day, partner_id));
CREATE TABLE payment_events (
    program_id BIGINT NOT NULL, event_id VARCHAR(255) NOT NULL, id BIGINT NOT NULL, type VARCHAR(64) NOT NULL,
    outcome VARCHAR(64) NOT NULL, transaction_id VARCHAR(255), waits_for VARCHAR(255), payment TEXT,
    occurred_at BIGINT NOT NULL, received_at BIGINT NOT NULL, is_test BOOLEAN DEFAULT '0' NOT NULL,
    CONSTRAINT pk_payment_events PRIMARY KEY (program_id, event_id));
CREATE INDEX ix_payment_events_waiting ON payment_events (program_id, waits_for);
CREATE UNIQUE INDEX ix_payment_events_newest ON payment_events (program_id, id);
CREATE TABLE payment_references (
    program_id BIGINT NOT NULL, reference VARCHAR(255) NOT NULL, transaction_id VARCHAR(255) NOT NULL,
    CONSTRAINT pk_payment_references PRIMARY KEY (program_id, reference));
CREATE INDEX ix_payment_references_transaction ON payment_references (program_id, transaction_id);
CREATE TABLE payment_returns (
    program_id BIGINT NOT NULL, reference VARCHAR(255) NOT NULL, return_id VARCHAR(255) NOT NULL,
    kind VARCHAR(16) NOT NULL, amount_cents BIGINT NOT NULL, stands BOOLEAN NOT NULL, told_at BIGINT NOT NULL,
    CONSTRAINT pk_payment_returns PRIMARY KEY (program_id, reference, return_id));
CREATE TABLE refused_calls (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, call VARCHAR(16) NOT NULL, code VARCHAR(64) NOT NULL,
    status INTEGER NOT NULL, message TEXT NOT NULL, fields TEXT, customer_key VARCHAR(255), click_id VARCHAR(255),
    transaction_id VARCHAR(255), request_id VARCHAR(64), at BIGINT NOT NULL,
    CONSTRAINT pk_refused_calls PRIMARY KEY (program_id, id));
CREATE TABLE rollups (
    program_id BIGINT NOT NULL, day DATE NOT NULL, clicks BIGINT DEFAULT '0' NOT NULL,
    leads BIGINT DEFAULT '0' NOT NULL, conversions BIGINT DEFAULT '0' NOT NULL, sales BIGINT DEFAULT '0' NOT NULL,
    revenue_cents BIGINT DEFAULT '0' NOT NULL, commission_cents BIGINT DEFAULT '0' NOT NULL,
    partners BIGINT DEFAULT '0' NOT NULL,
    CONSTRAINT pk_rollups PRIMARY KEY (program_id, day));
CREATE TABLE test_events (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, kind VARCHAR(16) NOT NULL, is_test BOOLEAN NOT NULL,
    with_key BOOLEAN NOT NULL, transaction_id VARCHAR(255), amount_cents BIGINT,
    refunded_cents BIGINT DEFAULT '0' NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_test_events PRIMARY KEY (program_id, id));
CREATE INDEX ix_test_events_transaction ON test_events (program_id, transaction_id);
CREATE TABLE tracking_log (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, call VARCHAR(16) NOT NULL, message TEXT NOT NULL, event_id BIGINT,
    at BIGINT NOT NULL,
    CONSTRAINT pk_tracking_log PRIMARY KEY (program_id, id));
CREATE TABLE users (
    id SERIAL NOT NULL, email VARCHAR(255) NOT NULL, password_hash VARCHAR(255) NOT NULL, created_at BIGINT NOT NULL,
    CONSTRAINT pk_users PRIMARY KEY (id),
    CONSTRAINT uq_users_email UNIQUE (email));
CREATE TABLE device_logins (
    device_hash VARCHAR(64) NOT NULL, user_code VARCHAR(16) NOT NULL, client VARCHAR(255) NOT NULL, user_id INTEGER,
    approved BOOLEAN, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, polled_at BIGINT,
    CONSTRAINT pk_device_logins PRIMARY KEY (device_hash),
    CONSTRAINT fk_device_logins_user_id FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT uq_device_logins_user_code UNIQUE (user_code));
CREATE TABLE sessions (
    token_hash VARCHAR(64) NOT NULL, user_id INTEGER NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
    CONSTRAINT pk_sessions PRIMARY KEY (token_hash),
    CONSTRAINT fk_sessions_user_id FOREIGN KEY (user_id) REFERENCES users (id));
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE TABLE workspaces (
    id SERIAL NOT NULL, name VARCHAR(512) NOT NULL, created_at BIGINT NOT NULL,
    CONSTRAINT pk_workspaces PRIMARY KEY (id));
CREATE TABLE agent_keys (
    id SERIAL NOT NULL, workspace_id INTEGER NOT NULL, name VARCHAR(512) NOT NULL, key_hash VARCHAR(64) NOT NULL,
    last4 VARCHAR(4) NOT NULL, scopes TEXT NOT NULL, program_ids TEXT, created_at BIGINT NOT NULL, expires_at BIGINT,
    revoked_at BIGINT, last_used_at BIGINT,
    CONSTRAINT pk_agent_keys PRIMARY KEY (id),
    CONSTRAINT fk_agent_keys_workspace_id FOREIGN KEY (workspace_id) REFERENCES workspaces (id),
    CONSTRAINT uq_agent_keys_key_hash UNIQUE (key_hash));
CREATE INDEX ix_agent_keys_workspace_id ON agent_keys (workspace_id);
CREATE TABLE assistants (
    id BIGINT NOT NULL, client_id VARCHAR(512) NOT NULL, name VARCHAR(255) NOT NULL, host VARCHAR(255) NOT NULL,
    user_id INTEGER NOT NULL, workspace_id INTEGER NOT NULL, scopes TEXT NOT NULL, program_ids TEXT NOT NULL,
    resource TEXT NOT NULL, redirect_uri TEXT NOT NULL, code_challenge VARCHAR(128) NOT NULL,
    connected_at BIGINT NOT NULL, last_used_at BIGINT,
    CONSTRAINT pk_assistants PRIMARY KEY (id),
    CONSTRAINT fk_assistants_user_id FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT fk_assistants_workspace_id FOREIGN KEY (workspace_id) REFERENCES workspaces (id));
CREATE INDEX ix_assistants_client_id ON assistants (client_id);
CREATE INDEX ix_assistants_user_id ON assistants (user_id);
CREATE INDEX ix_assistants_workspace_id ON assistants (workspace_id);
CREATE TABLE assistant_tokens (
    token_hash VARCHAR(64) NOT NULL, assistant_id BIGINT NOT NULL, kind VARCHAR(8) NOT NULL, scopes TEXT NOT NULL,
    expires_at BIGINT NOT NULL, spent_at BIGINT,
    CONSTRAINT pk_assistant_tokens PRIMARY KEY (token_hash),
    CONSTRAINT fk_assistant_tokens_assistant_id FOREIGN KEY (assistant_id) REFERENCES assistants (id));
CREATE INDEX ix_assistant_tokens_assistant_id ON assistant_tokens (assistant_id);
CREATE INDEX ix_assistant_tokens_expires_at ON assistant_tokens (expires_at);
CREATE TABLE idempotent_answers (
    agent_key_id INTEGER NOT NULL, idempotency_key VARCHAR(255) NOT NULL, request_hash VARCHAR(64) NOT NULL,
    status INTEGER NOT NULL, body TEXT NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_idempotent_answers PRIMARY KEY (agent_key_id, idempotency_key),
    CONSTRAINT fk_idempotent_answers_agent_key_id FOREIGN KEY (agent_key_id) REFERENCES agent_keys (id));
CREATE TABLE members (
    workspace_id INTEGER NOT NULL, user_id INTEGER NOT NULL, role VARCHAR(16) NOT NULL,
    status VARCHAR(16) DEFAULT 'active' NOT NULL, created_at BIGINT NOT NULL,
    CONSTRAINT pk_members PRIMARY KEY (workspace_id, user_id),
    CONSTRAINT fk_members_user_id FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT fk_members_workspace_id FOREIGN KEY (workspace_id) REFERENCES workspaces (id));
CREATE INDEX ix_members_user_id ON members (user_id);
CREATE TABLE programs (
    id SERIAL NOT NULL, workspace_id INTEGER NOT NULL, name VARCHAR(512) NOT NULL, domain VARCHAR(255) NOT NULL,
    currency VARCHAR(3) DEFAULT 'USD' NOT NULL, attribution_model VARCHAR(16) DEFAULT 'last_click' NOT NULL,
    cookie_window_days INTEGER DEFAULT '60' NOT NULL, attribution_window_days INTEGER DEFAULT '60' NOT NULL,
    hold_days INTEGER DEFAULT '15' NOT NULL, lead_auth_policy VARCHAR(16) DEFAULT 'server_required' NOT NULL,
    status VARCHAR(16) DEFAULT 'active' NOT NULL, terms_version INTEGER DEFAULT '1' NOT NULL,
    revision INTEGER DEFAULT '1' NOT NULL, created_at BIGINT NOT NULL,
    CONSTRAINT pk_programs PRIMARY KEY (id),
    CONSTRAINT fk_programs_workspace_id FOREIGN KEY (workspace_id) REFERENCES workspaces (id));
CREATE INDEX ix_programs_workspace_id ON programs (workspace_id);
CREATE TABLE commission_terms (
    program_id BIGINT NOT NULL, version INTEGER NOT NULL, commission_type VARCHAR(16) NOT NULL, rate BIGINT NOT NULL,
    lead_commission_cents BIGINT NOT NULL, recurring_months INTEGER, platform_fee_bps INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_commission_terms PRIMARY KEY (program_id, version),
    CONSTRAINT fk_commission_terms_program_id FOREIGN KEY (program_id) REFERENCES programs (id));
CREATE TABLE commissions (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, partner_id BIGINT NOT NULL, customer_id BIGINT NOT NULL,
    sale_id BIGINT, lead_id BIGINT, terms_version INTEGER NOT NULL, amount_cents BIGINT NOT NULL,
    currency VARCHAR(3) NOT NULL, status VARCHAR(16) NOT NULL, created_at BIGINT NOT NULL, hold_until BIGINT NOT NULL,
    paid_at BIGINT,
    CONSTRAINT pk_commissions PRIMARY KEY (program_id, id),
    CONSTRAINT fk_commissions_program_id_terms_version FOREIGN KEY (program_id, terms_version)
        REFERENCES commission_terms (program_id, version));
CREATE INDEX ix_commissions_status ON commissions (program_id, status, id);
CREATE UNIQUE INDEX ix_commissions_lead ON commissions (program_id, lead_id);
CREATE UNIQUE INDEX ix_commissions_sale ON commissions (program_id, sale_id);
CREATE TABLE ledger_entries (
    program_id BIGINT NOT NULL, commission_id BIGINT, id BIGINT NOT NULL, kind VARCHAR(32) NOT NULL,
    amount_cents BIGINT NOT NULL, corrects_id BIGINT, refund_id BIGINT, at BIGINT NOT NULL, partner_id BIGINT NOT NULL,
    payout_id BIGINT,
    CONSTRAINT pk_ledger_entries PRIMARY KEY (program_id, id),
    CONSTRAINT fk_ledger_entries_program_id_commission_id FOREIGN KEY (program_id, commission_id)
        REFERENCES commissions (program_id, id));
CREATE INDEX ix_ledger_entries_commission ON ledger_entries (program_id, commission_id);
CREATE INDEX ix_ledger_entries_partner ON ledger_entries (program_id, partner_id);
CREATE TABLE partners (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, name VARCHAR(512) NOT NULL, email VARCHAR(255),
    code VARCHAR(255) NOT NULL, status VARCHAR(16) DEFAULT 'active' NOT NULL, created_at BIGINT NOT NULL,
    CONSTRAINT pk_partners PRIMARY KEY (program_id, id),
    CONSTRAINT fk_partners_program_id FOREIGN KEY (program_id) REFERENCES programs (id),
    CONSTRAINT uq_partners_program_id_code UNIQUE (program_id, code));
CREATE TABLE clicks (
    program_id BIGINT NOT NULL, click_id VARCHAR(64) NOT NULL, partner_id BIGINT NOT NULL, at BIGINT NOT NULL,
    filtered VARCHAR(16), landing_url TEXT NOT NULL, page_url TEXT, page_title TEXT, referrer_url TEXT, visitor TEXT,
    CONSTRAINT pk_clicks PRIMARY KEY (program_id, click_id),
    CONSTRAINT fk_clicks_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id));
CREATE TABLE customers (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, partner_id BIGINT NOT NULL, click_id VARCHAR(64) NOT NULL,
    clicked_at BIGINT NOT NULL, customer_key VARCHAR(255), email_hash VARCHAR(64), email_mask VARCHAR(255),
    status VARCHAR(16) NOT NULL, settlement VARCHAR(16) NOT NULL, signup_at BIGINT, first_purchase_at BIGINT,
    revision INTEGER NOT NULL, created_at BIGINT NOT NULL,
    CONSTRAINT pk_customers PRIMARY KEY (program_id, id),
    CONSTRAINT fk_customers_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id),
    CONSTRAINT uq_customers_program_id_click_id UNIQUE (program_id, click_id),
    CONSTRAINT uq_customers_program_id_customer_key UNIQUE (program_id, customer_key));
CREATE INDEX ix_customers_partner ON customers (program_id, partner_id);
CREATE INDEX ix_customers_status ON customers (program_id, status, id);
CREATE TABLE leads (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, customer_id BIGINT NOT NULL, partner_id BIGINT NOT NULL,
    settlement VARCHAR(16) NOT NULL, with_key BOOLEAN NOT NULL, event_name TEXT, at BIGINT NOT NULL,
    CONSTRAINT pk_leads PRIMARY KEY (program_id, id),
    CONSTRAINT fk_leads_program_id_customer_id FOREIGN KEY (program_id, customer_id)
        REFERENCES customers (program_id, id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT uq_leads_program_id_customer_id_settlement UNIQUE (program_id, customer_id, settlement));
CREATE TABLE payment_accounts (
    program_id BIGINT NOT NULL, provider VARCHAR(16) NOT NULL, account_id VARCHAR(255) NOT NULL,
    sealed_secrets TEXT NOT NULL, connected_at BIGINT NOT NULL,
    CONSTRAINT pk_payment_accounts PRIMARY KEY (program_id),
    CONSTRAINT fk_payment_accounts_program_id FOREIGN KEY (program_id) REFERENCES programs (id));
CREATE TABLE payment_customers (
    program_id BIGINT NOT NULL, processor_customer VARCHAR(255) NOT NULL, click_id VARCHAR(64) NOT NULL,
    CONSTRAINT pk_payment_customers PRIMARY KEY (program_id, processor_customer),
    CONSTRAINT fk_payment_customers_program_id_click_id FOREIGN KEY (program_id, click_id)
        REFERENCES customers (program_id, click_id));
CREATE TABLE program_keys (
    program_id INTEGER NOT NULL, key_hash VARCHAR(64) NOT NULL, prefix VARCHAR(8) NOT NULL, last4 VARCHAR(4) NOT NULL,
    created_at BIGINT NOT NULL, flagged_at BIGINT, rotate_by BIGINT,
    CONSTRAINT pk_program_keys PRIMARY KEY (program_id),
    CONSTRAINT fk_program_keys_program_id FOREIGN KEY (program_id) REFERENCES programs (id),
    CONSTRAINT uq_program_keys_key_hash UNIQUE (key_hash));
CREATE TABLE retired_program_keys (
    key_hash VARCHAR(64) NOT NULL, program_id INTEGER NOT NULL, retired_at BIGINT NOT NULL,
    CONSTRAINT pk_retired_program_keys PRIMARY KEY (key_hash),
    CONSTRAINT fk_retired_program_keys_program_id FOREIGN KEY (program_id) REFERENCES programs (id));
CREATE TABLE sales (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, transaction_id VARCHAR(255) NOT NULL, customer_id BIGINT NOT NULL,
    partner_id BIGINT NOT NULL, amount_cents BIGINT NOT NULL, currency VARCHAR(3) NOT NULL,
    program_cents BIGINT NOT NULL, refunded_cents BIGINT DEFAULT '0' NOT NULL, details TEXT, customer_key VARCHAR(255),
    payload_hash VARCHAR(64) NOT NULL, occurred_at BIGINT NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_sales PRIMARY KEY (program_id, id),
    CONSTRAINT fk_sales_program_id_customer_id FOREIGN KEY (program_id, customer_id)
        REFERENCES customers (program_id, id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT uq_sales_program_id_transaction_id UNIQUE (program_id, transaction_id));
CREATE INDEX ix_sales_customer ON sales (program_id, customer_id);
CREATE TABLE refunds (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, sale_id BIGINT NOT NULL, refund_id VARCHAR(255),
    amount_cents BIGINT NOT NULL, program_cents BIGINT NOT NULL, reversed_cents BIGINT NOT NULL, reason TEXT,
    at BIGINT NOT NULL,
    CONSTRAINT pk_refunds PRIMARY KEY (program_id, id),
    CONSTRAINT fk_refunds_program_id_sale_id FOREIGN KEY (program_id, sale_id) REFERENCES sales (program_id, id),
    CONSTRAINT uq_refunds_program_id_sale_id_refund_id UNIQUE (program_id, sale_id, refund_id))
"""


def upgrade() -> None:
    own_id = "SERIAL" if op.get_bind().dialect.name == "postgresql" else "INTEGER"
    for statement in SCHEMA.replace("SERIAL", own_id).split(";"):
        op.execute(statement)


def downgrade() -> None:
    for table in reversed(re.findall(r"CREATE TABLE (\w+)", SCHEMA)):
        op.drop_table(table)
