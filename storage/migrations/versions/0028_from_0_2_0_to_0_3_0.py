"""From 0.2.0 to 0.3.0

What development versions migrated in many steps: tables, columns and rows. The migration after it is PostgreSQL's part.
"""

import json
import re
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0006"
branch_labels = None
depends_on = None

COLUMNS = {
    "clicks": ["referrer_host VARCHAR(253)", "ad_markers VARCHAR(128)", "address_hash VARCHAR(24)", "dimensions TEXT"],
    "commission_terms": ["minimum_order_cents BIGINT DEFAULT '0' NOT NULL", "by_agent BOOLEAN DEFAULT '0' NOT NULL"],
    "commissions": ["approved_by_key_id INTEGER"],
    "customers": ["confirmed BOOLEAN DEFAULT '0' NOT NULL"],
    "device_logins": ["interval_seconds INTEGER DEFAULT '2' NOT NULL"],
    "leads": ["address_hash VARCHAR(24)", "outranked_by BIGINT", "outranked_at BIGINT"],
    "partners": ["notes TEXT"],
    "programs": [
        "paid_ads VARCHAR(16) DEFAULT 'allowed' NOT NULL",
        "sandbox_of INTEGER CONSTRAINT fk_programs_sandbox_of_programs REFERENCES programs (id)",
        "further_domains VARCHAR(1024)",
        "old_links VARCHAR(16) DEFAULT 'none' NOT NULL",
    ],
    "refunds": ["request_id VARCHAR(64)"],
    "refused_calls": ["amount_cents BIGINT", "currency VARCHAR(3)", "same_payload BOOLEAN"],
    "rollups": ["changes BIGINT DEFAULT '0' NOT NULL"],
    "sales": ["provenance VARCHAR(16) DEFAULT 'api' NOT NULL"],
    "sessions": ["client VARCHAR(255)"],
    "test_events": [
        "event_name TEXT",
        *(f"{name} VARCHAR(255)" for name in ("customer_key", "click_id", "email_mask")),
    ],
    "users": [
        "name VARCHAR(255)",
        "theme VARCHAR(16) DEFAULT 'system' NOT NULL",
        "time_format VARCHAR(16) DEFAULT '24' NOT NULL",
    ],
    "workspaces": ["time_zone VARCHAR(64) DEFAULT 'UTC' NOT NULL", "logo_version VARCHAR(16)"],
}
TABLES = """
CREATE TABLE agent_caps (
    program_id INTEGER NOT NULL, frozen_settings TEXT, rate_step_bps INTEGER, rate_change_in_30_days_bps INTEGER,
    highest_rate_bps INTEGER, highest_flat_rate_cents BIGINT, highest_lead_commission_cents BIGINT,
    two_keys_to_pay BOOLEAN,
    CONSTRAINT pk_agent_caps PRIMARY KEY (program_id),
    CONSTRAINT fk_agent_caps_program_id FOREIGN KEY (program_id) REFERENCES programs (id));
CREATE TABLE click_retention (
    program_id BIGINT NOT NULL, deleted_before BIGINT NOT NULL,
    CONSTRAINT pk_click_retention PRIMARY KEY (program_id));
CREATE TABLE committed_batches (
    lane VARCHAR(32) NOT NULL, token VARCHAR(32) NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_committed_batches PRIMARY KEY (lane));
CREATE TABLE dimension_rollups (
    program_id BIGINT NOT NULL, dimension VARCHAR(16) NOT NULL, day DATE NOT NULL, totals TEXT NOT NULL,
    CONSTRAINT pk_dimension_rollups PRIMARY KEY (program_id, dimension, day));
CREATE TABLE flags (
    program_id BIGINT NOT NULL, id BIGINT NOT NULL, kind VARCHAR(32) NOT NULL, subject VARCHAR(128) NOT NULL,
    partner_id BIGINT NOT NULL, customer_id BIGINT, commission_id BIGINT, evidence TEXT NOT NULL,
    state VARCHAR(16) NOT NULL, held_from BIGINT NOT NULL, created_at BIGINT NOT NULL, decided_at BIGINT,
    decided_by VARCHAR(512), decision_reason TEXT,
    CONSTRAINT pk_flags PRIMARY KEY (program_id, id),
    CONSTRAINT fk_flags_program_id_partner_id FOREIGN KEY (program_id, partner_id)
        REFERENCES partners (program_id, id),
    CONSTRAINT uq_flags_program_id_kind_subject UNIQUE (program_id, kind, subject));
CREATE TABLE grouped_days (
    program_id BIGINT NOT NULL, day DATE NOT NULL, phase VARCHAR(8) NOT NULL, until VARCHAR(64) NOT NULL,
    clicks BIGINT NOT NULL, changes BIGINT NOT NULL,
    CONSTRAINT pk_grouped_days PRIMARY KEY (program_id, day));
CREATE TABLE idempotent_calls (
    program_id BIGINT NOT NULL, idempotency_key VARCHAR(255) NOT NULL, request_hash VARCHAR(64) NOT NULL,
    body TEXT NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_idempotent_calls PRIMARY KEY (program_id, idempotency_key));
CREATE TABLE invitations (
    id SERIAL NOT NULL, token_hash VARCHAR(64) NOT NULL, workspace_id INTEGER NOT NULL, email VARCHAR(255) NOT NULL,
    role VARCHAR(16) NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
    CONSTRAINT pk_invitations PRIMARY KEY (id),
    CONSTRAINT fk_invitations_workspace_id_workspaces FOREIGN KEY (workspace_id) REFERENCES workspaces (id),
    CONSTRAINT uq_invitations_token_hash UNIQUE (token_hash),
    CONSTRAINT uq_invitations_workspace_id_email UNIQUE (workspace_id, email));
CREATE TABLE key_callers (
    program_id BIGINT NOT NULL, key_hash VARCHAR(64) NOT NULL, call VARCHAR(16) NOT NULL,
    user_agent VARCHAR(160) NOT NULL, network_hash VARCHAR(24) NOT NULL, calls BIGINT NOT NULL,
    first_at BIGINT NOT NULL, last_at BIGINT NOT NULL,
    CONSTRAINT pk_key_callers PRIMARY KEY (program_id, key_hash, call, user_agent, network_hash));
CREATE TABLE password_resets (
    token_hash VARCHAR(64) NOT NULL, user_id INTEGER NOT NULL, expires_at BIGINT NOT NULL,
    CONSTRAINT pk_password_resets PRIMARY KEY (token_hash),
    CONSTRAINT fk_password_resets_user_id FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT uq_password_resets_user_id UNIQUE (user_id));
CREATE TABLE payment_event_names (
    program_id BIGINT NOT NULL, name VARCHAR(300) NOT NULL, event_id VARCHAR(255) NOT NULL,
    CONSTRAINT pk_payment_event_names PRIMARY KEY (program_id, name, event_id));
CREATE TABLE program_batches (
    program_id BIGINT NOT NULL, lane VARCHAR(32) NOT NULL, token VARCHAR(32) NOT NULL, at BIGINT NOT NULL,
    CONSTRAINT pk_program_batches PRIMARY KEY (program_id, lane));
CREATE TABLE program_places (
    program_id INTEGER NOT NULL,
    CONSTRAINT pk_program_places PRIMARY KEY (program_id),
    CONSTRAINT fk_program_places_program_id FOREIGN KEY (program_id) REFERENCES programs (id));
CREATE TABLE recovery_codes (
    user_id INTEGER NOT NULL, code_hash VARCHAR(64) NOT NULL,
    CONSTRAINT pk_recovery_codes PRIMARY KEY (user_id, code_hash),
    CONSTRAINT fk_recovery_codes_user_id FOREIGN KEY (user_id) REFERENCES users (id));
CREATE TABLE recurring_tasks (
    name VARCHAR(64) NOT NULL, started_at BIGINT NOT NULL,
    CONSTRAINT pk_recurring_tasks PRIMARY KEY (name));
CREATE TABLE second_factors (
    user_id INTEGER NOT NULL, sealed_secret TEXT NOT NULL, last_step BIGINT NOT NULL, confirmed_at BIGINT,
    CONSTRAINT pk_second_factors PRIMARY KEY (user_id),
    CONSTRAINT fk_second_factors_user_id FOREIGN KEY (user_id) REFERENCES users (id));
CREATE TABLE used_handovers (
    program_id BIGINT NOT NULL, nonce VARCHAR(32) NOT NULL, expires_at BIGINT NOT NULL,
    CONSTRAINT pk_used_handovers PRIMARY KEY (program_id, nonce));
CREATE TABLE workspace_logos (
    workspace_id INTEGER NOT NULL, media_type VARCHAR(32) NOT NULL, content BLOB NOT NULL,
    CONSTRAINT pk_workspace_logos PRIMARY KEY (workspace_id),
    CONSTRAINT fk_workspace_logos_workspace_id_workspaces FOREIGN KEY (workspace_id) REFERENCES workspaces (id));
CREATE INDEX ix_clicks_unfilled ON clicks (program_id, click_id) WHERE dimensions IS NULL;
CREATE INDEX ix_customers_email ON customers (program_id, email_hash);
CREATE INDEX ix_flags_partner ON flags (program_id, partner_id);
CREATE INDEX ix_leads_outranked_by ON leads (program_id, outranked_by);
CREATE INDEX ix_payment_events_outcome ON payment_events (program_id, outcome, id);
CREATE UNIQUE INDEX ix_programs_sandbox_of ON programs (sandbox_of);
CREATE UNIQUE INDEX ix_refunds_request ON refunds (program_id, request_id)
"""
ROWS = """
UPDATE sales SET provenance = 'processor' WHERE EXISTS (
    SELECT 1 FROM payment_references AS known WHERE known.program_id = sales.program_id
    AND known.transaction_id = sales.transaction_id AND known.reference = sales.transaction_id);
UPDATE customers SET confirmed = true WHERE EXISTS (
    SELECT 1 FROM leads
    WHERE leads.program_id = customers.program_id AND leads.customer_id = customers.id AND leads.with_key);
UPDATE commissions SET approved_by_key_id = (
    SELECT max(CAST(actor_id AS INTEGER)) FROM audit_entries
    WHERE audit_entries.program_id = commissions.program_id AND audit_entries.actor_type = 'agent_key'
    AND audit_entries.action = 'commission.decide' AND audit_entries.after = '"approved"'
    AND audit_entries.subject_id = CAST(commissions.id AS VARCHAR(64))
) WHERE status = 'approved';
INSERT INTO program_places (program_id) SELECT id FROM programs
"""
ROWS_BEFORE = """
DELETE FROM payment_customers WHERE NOT EXISTS (
    SELECT 1 FROM customers
    WHERE customers.program_id = payment_customers.program_id AND customers.click_id = payment_customers.click_id);
UPDATE payment_events SET outcome = 'waiting' WHERE outcome IN ('organic', 'not_referred', 'unknown_customer');
UPDATE payment_events SET outcome = 'ignored' WHERE outcome = 'linked'
"""
DONE = ("recorded", "repeated", "ignored", "test", "same_sale")
FOREIGN_KEY = "fk_payment_customers_program_id_click_id"
PAGE = 500


def upgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    for table, columns in COLUMNS.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    run(TABLES.replace("BLOB", "BYTEA") if is_postgresql else TABLES.replace("SERIAL", "INTEGER"))
    op.drop_column("refused_calls", "status")
    with op.batch_alter_table("payment_customers") as batch_op:
        batch_op.drop_constraint(FOREIGN_KEY, type_="foreignkey")
    run(ROWS)
    name_what_waits()


def downgrade() -> None:
    run(ROWS_BEFORE)
    with op.batch_alter_table("payment_customers") as batch_op:
        columns = ["program_id", "click_id"]
        batch_op.create_foreign_key(FOREIGN_KEY, "customers", columns, columns)
    op.execute("ALTER TABLE refused_calls ADD COLUMN status INTEGER DEFAULT '400' NOT NULL")
    for kind, name in reversed(re.findall(r"CREATE (?:UNIQUE )?(TABLE|INDEX) (\w+)", TABLES)):
        op.execute(f"DROP {kind} IF EXISTS {name}")
    for table, added in COLUMNS.items():
        for column in reversed(added):
            op.drop_column(table, column.partition(" ")[0])


def run(statements: str) -> None:
    for statement in statements.split(";"):
        op.execute(statement)


def name_what_waits() -> None:
    """Give the payments that do not count their names, and set those that name no customer apart."""
    connection, schema = op.get_bind(), sa.MetaData()
    events = sa.Table("payment_events", schema, autoload_with=connection)
    names = sa.Table("payment_event_names", schema, autoload_with=connection)
    columns = (events.c.program_id, events.c.event_id)
    waiting = sa.select(*columns, events.c.payment).where(events.c.outcome.not_in(DONE), events.c.payment.is_not(None))
    last: tuple[Any, ...] = ()
    while rows := connection.execute(
        (waiting.where(sa.tuple_(*columns) > sa.tuple_(*last)) if last else waiting).order_by(*columns).limit(PAGE)
    ).all():
        last = rows[-1][:2]
        for program_id, event_id, payment in rows:
            fields = json.loads(payment)
            fields = fields if "version" in fields else next(iter(fields.values()))
            customer = [f"{name}:{fields[name]}" for name in ("click_id", "customer_key") if fields.get(name)]
            ids = [*(fields.get("references") or [fields.get("reference")]), fields.get("processor_customer")]
            row = {"program_id": program_id, "event_id": event_id}
            named = [row | {"name": name} for name in dict.fromkeys([*ids, *customer]) if name]
            connection.execute(names.insert(), named)
            if "transaction_id" in fields and not customer:
                mine = (events.c.program_id == program_id, events.c.event_id == event_id)
                waiting_still = events.update().where(*mine, events.c.outcome == "waiting")
                connection.execute(waiting_still.values(outcome="organic"))
