"""Pay partners in payouts, show them why in a portal, and let agents try, plan and replay

Terms of partners and groups, coupons, payouts, the partners' portal, calls that are kept for a replay, plans of agents,
and the numbered changes of each program. On a distributed database `svc admin db distribute` places the new tables and
adds their foreign keys.
"""

import re

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0049"
branch_labels = None
depends_on = None

COLUMNS = {
    "agent_caps": ["apply_own_plans BOOLEAN", "referrals_in_a_day INTEGER", "replayed_calls_in_a_day INTEGER"],
    "commission_terms": ["partner_id BIGINT", "partner_group VARCHAR(64)", "ended_at BIGINT"],
    "partners": ["minimum_payout_cents BIGINT", "partner_group VARCHAR(64)", "terms_version INTEGER"],
    "programs": [
        "minimum_payout_cents BIGINT DEFAULT '0' NOT NULL",
        "confirm_payouts BOOLEAN DEFAULT '0' NOT NULL",
        "coupon_wins VARCHAR(16) DEFAULT 'click' NOT NULL",
        "partners_see_amounts BOOLEAN DEFAULT '0' NOT NULL",
        "partners_may_apply BOOLEAN DEFAULT '0' NOT NULL",
        "payer_iban VARCHAR(34)",
    ],
    "refused_calls": ["coupon_code VARCHAR(255)"],
    "retired_program_keys": ["leaked_at BIGINT"],
}
TABLES = """
CREATE TABLE payouts (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, state VARCHAR(16) NOT NULL, earned_until DATE NOT NULL,
    minimum_cents BIGINT, left_out TEXT NOT NULL, created_by VARCHAR(512) NOT NULL, created_by_id VARCHAR(80) NOT NULL,
    created_at BIGINT NOT NULL, confirmed_by VARCHAR(512), confirmed_at BIGINT, paid_on DATE, reference VARCHAR(255),
    sent_by VARCHAR(512), sent_at BIGINT, reopened_at BIGINT,
    CONSTRAINT pk_payouts PRIMARY KEY (program_id, id));
CREATE TABLE payout_lines (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, payout_id BIGINT NOT NULL, partner_id BIGINT NOT NULL,
    number INTEGER, state VARCHAR(16) NOT NULL, commissions INTEGER NOT NULL, approved_cents BIGINT NOT NULL,
    set_off_cents BIGINT NOT NULL, adjusted_cents BIGINT NOT NULL, to_pay_cents BIGINT NOT NULL, method VARCHAR(16),
    method_sealed TEXT, method_masked VARCHAR(255), method_changed_at BIGINT, failure TEXT, corrects_id BIGINT,
    created_at BIGINT NOT NULL, mail_is_due BOOLEAN DEFAULT '0' NOT NULL,
    CONSTRAINT fk_payout_lines_program_id_payout_id FOREIGN KEY (program_id, payout_id)
        REFERENCES payouts (program_id, id),
    CONSTRAINT fk_payout_lines_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id),
    CONSTRAINT pk_payout_lines PRIMARY KEY (program_id, id));
CREATE TABLE payout_items (
    program_id BIGINT NOT NULL, payout_id BIGINT NOT NULL, partner_id BIGINT NOT NULL, commission_id BIGINT NOT NULL,
    net_cents BIGINT NOT NULL, is_live BOOLEAN NOT NULL,
    CONSTRAINT fk_payout_items_program_id_commission_id FOREIGN KEY (program_id, commission_id)
        REFERENCES commissions (program_id, id),
    CONSTRAINT pk_payout_items PRIMARY KEY (program_id, payout_id, partner_id, commission_id));
CREATE TABLE payout_methods (
    program_id BIGINT NOT NULL, partner_id BIGINT NOT NULL, kind VARCHAR(16) NOT NULL, sealed TEXT NOT NULL,
    masked VARCHAR(255) NOT NULL, changed_at BIGINT NOT NULL, held_until BIGINT NOT NULL, release_reason TEXT,
    CONSTRAINT fk_payout_methods_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id),
    CONSTRAINT pk_payout_methods PRIMARY KEY (program_id, partner_id));
CREATE TABLE coupons (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, partner_id BIGINT NOT NULL, code VARCHAR(255) NOT NULL,
    code_key VARCHAR(255) NOT NULL, created_at BIGINT NOT NULL, ended_at BIGINT,
    CONSTRAINT fk_coupons_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id),
    CONSTRAINT pk_coupons PRIMARY KEY (program_id, id),
    CONSTRAINT uq_coupons_program_id_code_key UNIQUE (program_id, code_key));
CREATE TABLE partner_applications (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, name VARCHAR(512) NOT NULL, email VARCHAR(255) NOT NULL,
    site VARCHAR(512) NOT NULL, reason TEXT, state VARCHAR(16) NOT NULL, created_at BIGINT NOT NULL,
    decided_by VARCHAR(512), decided_at BIGINT, partner_id BIGINT,
    CONSTRAINT pk_partner_applications PRIMARY KEY (program_id, id));
CREATE TABLE portal_accounts (
    program_id BIGINT NOT NULL, partner_id BIGINT NOT NULL, mails_payments BOOLEAN DEFAULT '1' NOT NULL,
    mails_summaries BOOLEAN DEFAULT '1' NOT NULL, summarized_on DATE NOT NULL,
    CONSTRAINT fk_portal_accounts_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id),
    CONSTRAINT pk_portal_accounts PRIMARY KEY (program_id, partner_id));
CREATE TABLE portal_tokens (
    program_id BIGINT NOT NULL, token_hash VARCHAR(64) NOT NULL, kind VARCHAR(8) NOT NULL, partner_id BIGINT NOT NULL,
    email VARCHAR(255) NOT NULL, browser_hash VARCHAR(64), client VARCHAR(255), created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, used_at BIGINT,
    CONSTRAINT fk_portal_tokens_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id),
    CONSTRAINT pk_portal_tokens PRIMARY KEY (program_id, token_hash));
CREATE TABLE sale_questions (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, partner_id BIGINT NOT NULL, sold_on DATE NOT NULL,
    transaction_id VARCHAR(255) NOT NULL, note TEXT, created_at BIGINT NOT NULL, answer TEXT, answered_by VARCHAR(512),
    answered_at BIGINT,
    CONSTRAINT fk_sale_questions_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id),
    CONSTRAINT pk_sale_questions PRIMARY KEY (program_id, id));
CREATE TABLE kept_calls (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, call VARCHAR(16) NOT NULL, code VARCHAR(64) NOT NULL,
    state VARCHAR(16) NOT NULL, sealed TEXT, caller VARCHAR(192), tried_at BIGINT, at BIGINT NOT NULL,
    CONSTRAINT pk_kept_calls PRIMARY KEY (program_id, id));
CREATE TABLE plans (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, status VARCHAR(16) NOT NULL, reason VARCHAR(512) NOT NULL,
    created_by VARCHAR(512) NOT NULL, decided_by VARCHAR(512), reverts_id BIGINT, content TEXT NOT NULL,
    created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, decided_at BIGINT, apply_at BIGINT,
    approver_type VARCHAR(16), approver_id VARCHAR(80),
    CONSTRAINT pk_plans PRIMARY KEY (program_id, id));
CREATE TABLE changes (
    program_id BIGINT NOT NULL, seq BIGINT NOT NULL, kind VARCHAR(64) NOT NULL, label VARCHAR(64) NOT NULL,
    number BIGINT NOT NULL, cents BIGINT NOT NULL, ids TEXT NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_changes PRIMARY KEY (program_id, seq));
CREATE TABLE change_counters (
    program_id BIGINT NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_change_counters PRIMARY KEY (program_id));
CREATE UNIQUE INDEX ix_payouts_draft ON payouts (program_id) WHERE state = 'draft';
CREATE UNIQUE INDEX ix_payout_lines_number ON payout_lines (program_id, number);
CREATE INDEX ix_payout_lines_payout ON payout_lines (program_id, payout_id, partner_id);
CREATE INDEX ix_payout_lines_partner ON payout_lines (program_id, partner_id);
CREATE UNIQUE INDEX ix_payout_lines_corrects ON payout_lines (program_id, corrects_id);
CREATE INDEX ix_payout_lines_mail ON payout_lines (program_id, number) WHERE mail_is_due;
CREATE UNIQUE INDEX ix_payout_items_live ON payout_items (program_id, commission_id) WHERE is_live;
CREATE INDEX ix_partners_group ON partners (program_id, partner_group);
CREATE INDEX ix_coupons_partner ON coupons (program_id, partner_id);
CREATE UNIQUE INDEX ix_partner_applications_waiting ON partner_applications (program_id, email)
    WHERE state = 'waiting';
CREATE INDEX ix_portal_tokens_partner ON portal_tokens (program_id, partner_id);
CREATE INDEX ix_portal_tokens_token_hash ON portal_tokens (token_hash);
CREATE INDEX ix_sale_questions_open ON sale_questions (program_id) WHERE answered_at IS NULL;
CREATE INDEX ix_sale_questions_partner ON sale_questions (program_id, partner_id);
CREATE INDEX ix_kept_calls_state ON kept_calls (program_id, state, tried_at, id);
CREATE INDEX ix_plans_due ON plans (apply_at) WHERE status = 'scheduled'
"""
FOREIGN_KEY = re.compile(r"CONSTRAINT fk_\w+ FOREIGN KEY \([^)]*\)\s+REFERENCES \w+ \([^)]*\),\s+")


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    for statement in (FOREIGN_KEY.sub("", TABLES) if is_distributed() else TABLES).split(";"):
        op.execute(statement)


def downgrade() -> None:
    for kind, name in reversed(re.findall(r"CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)", TABLES)):
        op.execute(f"DROP {kind} {name}")
    for table, added in COLUMNS.items():
        for column in reversed(added):
            op.drop_column(table, column.partition(" ")[0])


def is_distributed() -> bool:
    """Return whether the tables of programs lie on the nodes of a cluster already."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return False
    has_citus = connection.execute(sa.text("SELECT to_regclass('pg_dist_partition') IS NOT NULL")).scalar_one()
    placed = sa.text("SELECT count(*) FROM pg_dist_partition WHERE logicalrelid = 'partners'::regclass")
    return has_citus and connection.execute(placed).scalar_one() > 0
