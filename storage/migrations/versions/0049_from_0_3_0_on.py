"""From 0.3.0 to the development version of 2026-11-24

What development versions migrated in many steps. An account may have several reset links: one that is sent to its
mailbox does not end the others. Programs go on paying on the whole amount of a sale. Of partners whose codes are one by
now, the first enrolled has it in every spelling; the others keep their codes as they are (`code_key` is NULL).
"""

import re

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0037"
branch_labels = None
depends_on = None

COLUMNS = {
    "agent_caps": ["commissions_in_a_day INTEGER", "amount_in_a_day_cents BIGINT"],
    "commission_terms": ["commission_basis VARCHAR(16) DEFAULT 'total' NOT NULL"],
    "commissions": ["credited_by VARCHAR(512)"],
    "customers": ["mailbox_hash VARCHAR(64)", "known_as VARCHAR(255)"],
    "flags": ["decided_by_key_id BIGINT", "incident VARCHAR(128)"],
    "invitations": ["mailed_hash VARCHAR(64)"],
    "ledger_entries": ["reason TEXT"],
    "partners": ["code_key VARCHAR(255)"],
    "password_resets": ["usable_at BIGINT", "is_mailed BOOLEAN DEFAULT '0' NOT NULL"],
    "refunds": ["caller VARCHAR(192)"],
    "refused_calls": ["caller VARCHAR(192)", "occurred_at BIGINT"],
    "sales": [
        "tax_cents BIGINT DEFAULT '0' NOT NULL",
        "shipping_cents BIGINT DEFAULT '0' NOT NULL",
        "caller VARCHAR(192)",
    ],
    "sessions": ["used_at BIGINT"],
    "users": ["email_proven_at BIGINT"],
}
TABLES = """
CREATE TABLE agent_decisions (
    program_id BIGINT NOT NULL, day DATE NOT NULL, status VARCHAR(16) NOT NULL, commissions INTEGER NOT NULL,
    cents BIGINT NOT NULL,
    CONSTRAINT pk_agent_decisions PRIMARY KEY (program_id, day, status));
CREATE TABLE agent_rejections (
    program_id BIGINT NOT NULL, agent_key_id BIGINT NOT NULL, code VARCHAR(64) NOT NULL, about VARCHAR(64) NOT NULL,
    calls BIGINT NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL,
    CONSTRAINT pk_agent_rejections PRIMARY KEY (program_id, agent_key_id, code, about));
CREATE TABLE imports (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, undo TEXT NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_imports PRIMARY KEY (program_id, id));
CREATE TABLE key_caller_weeks (
    program_id BIGINT NOT NULL, key_hash VARCHAR(64) NOT NULL, caller VARCHAR(192) NOT NULL, week DATE NOT NULL,
    calls BIGINT NOT NULL,
    CONSTRAINT pk_key_caller_weeks PRIMARY KEY (program_id, key_hash, caller, week));
CREATE TABLE saved_views (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, name VARCHAR(160) NOT NULL, query VARCHAR(2048) NOT NULL,
    shared_until BIGINT,
    CONSTRAINT pk_saved_views PRIMARY KEY (program_id, id));
CREATE INDEX ix_customers_mailbox ON customers (program_id, mailbox_hash);
CREATE UNIQUE INDEX ix_customers_known_as ON customers (program_id, known_as) WHERE known_as IS NOT NULL;
CREATE INDEX ix_retired_program_keys_program_id ON retired_program_keys (program_id);
CREATE UNIQUE INDEX ix_partners_code_key ON partners (program_id, code_key)
"""
ONE_FOR_EACH, SEVERAL = "uq_password_resets_user_id", "ix_password_resets_user_id"
# Flags from before: those that one review raised about customers of one source have the same evidence.
INCIDENTS = {
    "substr(evidence, 1, 128)": "kind = 'many_customers_one_source'",
    "'hidden'": "kind = 'cookie_stuffing' AND evidence LIKE '%hidden_clicks%'",
    "'quick'": "kind = 'cookie_stuffing' AND evidence LIKE '%seconds%'",
    "'email'": "kind = 'self_referral' AND evidence LIKE '%email%'",
    "'address'": "kind = 'self_referral' AND evidence LIKE '%address%'",
}


def upgrade() -> None:
    for table, columns in COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    with op.batch_alter_table("password_resets") as resets:
        resets.drop_constraint(ONE_FOR_EACH, type_="unique")
        resets.create_index(SEVERAL, ["user_id"])
    name_codes()
    for statement in TABLES.split(";"):
        op.execute(statement)
    for incident, conditions in INCIDENTS.items():
        op.execute(f"UPDATE flags SET incident = {incident} WHERE customer_id IS NOT NULL AND {conditions}")  # noqa: S608


def downgrade() -> None:
    op.execute("DELETE FROM password_resets")
    with op.batch_alter_table("password_resets") as resets:
        resets.drop_index(SEVERAL)
        resets.create_unique_constraint(ONE_FOR_EACH, ["user_id"])
    for kind, name in reversed(re.findall(r"CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)", TABLES)):
        op.execute(f"DROP {kind} {name}")
    for table, added in COLUMNS.items():
        for column in reversed(added):
            op.drop_column(table, column.partition(" ")[0])


def name_codes() -> None:
    """Give each code, in all its spellings, to the first of the partners who have it."""
    row = sa.table("partners", *map(sa.column, ("program_id", "id", "code", "code_key")))
    connection, firsts = op.get_bind(), {}
    codes = sa.select(row.c.program_id, row.c.code, row.c.id).order_by(row.c.program_id, row.c.id)
    for program_id, code, partner_id in connection.execute(codes):
        firsts.setdefault((program_id, re.sub(r"[\W_]+$", "", code).lower() or code), partner_id)
    named = (row.c.program_id == sa.bindparam("program"), row.c.id == sa.bindparam("partner"))
    for (program_id, key), partner_id in firsts.items():
        values = {"program": program_id, "partner": partner_id, "key": key}
        connection.execute(sa.update(row).where(*named).values(code_key=sa.bindparam("key")), values)
