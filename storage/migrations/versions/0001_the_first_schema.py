"""The first schema"""

import sqlalchemy as sa
from alembic import op


revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:

    op.create_table(
        "audit_entries",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("actor_type", sa.String(length=16), nullable=False),
        sa.Column("actor_id", sa.String(length=64), nullable=False),
        sa.Column("actor_name", sa.String(length=512), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("subject_id", sa.String(length=64), nullable=True),
        sa.Column("field", sa.String(length=64), nullable=True),
        sa.Column("before", sa.Text(), nullable=True),
        sa.Column("after", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_audit_entries")),
    )
    op.create_table(
        "currency_rates",
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("per_euro", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("currency", "day", name=op.f("pk_currency_rates")),
    )
    op.create_table(
        "partner_rollups",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("partner_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("clicks", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("leads", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("conversions", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("sales", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("revenue_cents", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("commission_cents", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("partners", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("program_id", "day", "partner_id", name=op.f("pk_partner_rollups")),
    )
    op.create_table(
        "refused_calls",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("call", sa.String(length=16), nullable=False),
        sa.Column("code", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("fields", sa.Text(), nullable=True),
        sa.Column("customer_key", sa.String(length=255), nullable=True),
        sa.Column("click_id", sa.String(length=255), nullable=True),
        sa.Column("transaction_id", sa.String(length=255), nullable=True),
        sa.Column("request_id", sa.String(length=64), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_refused_calls")),
    )
    op.create_table(
        "rollups",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("clicks", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("leads", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("conversions", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("sales", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("revenue_cents", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("commission_cents", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("partners", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("program_id", "day", name=op.f("pk_rollups")),
    )
    op.create_table(
        "test_events",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("is_test", sa.Boolean(), nullable=False),
        sa.Column("with_key", sa.Boolean(), nullable=False),
        sa.Column("transaction_id", sa.String(length=255), nullable=True),
        sa.Column("amount_cents", sa.BigInteger(), nullable=True),
        sa.Column("refunded_cents", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("payload", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_test_events")),
    )
    with op.batch_alter_table("test_events", schema=None) as batch_op:
        batch_op.create_index("ix_test_events_transaction", ["program_id", "transaction_id"], unique=False)

    op.create_table(
        "tracking_log",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("call", sa.String(length=16), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("event_id", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_tracking_log")),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=255), nullable=False),
        sa.Column("password_hash", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("email", name=op.f("uq_users_email")),
    )
    op.create_table(
        "workspaces",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
    )
    op.create_table(
        "agent_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("last4", sa.String(length=4), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("program_ids", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_agent_keys_workspace_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_agent_keys_key_hash")),
    )
    with op.batch_alter_table("agent_keys", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_agent_keys_workspace_id"), ["workspace_id"], unique=False)

    op.create_table(
        "members",
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), server_default="active", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_members_user_id")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_members_workspace_id")),
        sa.PrimaryKeyConstraint("workspace_id", "user_id", name=op.f("pk_members")),
    )
    with op.batch_alter_table("members", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_members_user_id"), ["user_id"], unique=False)

    op.create_table(
        "programs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("domain", sa.String(length=255), nullable=False),
        sa.Column("currency", sa.String(length=3), server_default="USD", nullable=False),
        sa.Column("attribution_model", sa.String(length=16), server_default="last_click", nullable=False),
        sa.Column("cookie_window_days", sa.Integer(), server_default="60", nullable=False),
        sa.Column("attribution_window_days", sa.Integer(), server_default="60", nullable=False),
        sa.Column("hold_days", sa.Integer(), server_default="15", nullable=False),
        sa.Column("lead_auth_policy", sa.String(length=16), server_default="server_required", nullable=False),
        sa.Column("status", sa.String(length=16), server_default="active", nullable=False),
        sa.Column("terms_version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("revision", sa.Integer(), server_default="1", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_programs_workspace_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_programs")),
    )
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_programs_workspace_id"), ["workspace_id"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_sessions")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_user_id"), ["user_id"], unique=False)

    op.create_table(
        "commission_terms",
        sa.Column("program_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("commission_type", sa.String(length=16), nullable=False),
        sa.Column("rate", sa.BigInteger(), nullable=False),
        sa.Column("lead_commission_cents", sa.BigInteger(), nullable=False),
        sa.Column("recurring_months", sa.Integer(), nullable=True),
        sa.Column("platform_fee_bps", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["program_id"], ["programs.id"], name=op.f("fk_commission_terms_program_id")),
        sa.PrimaryKeyConstraint("program_id", "version", name=op.f("pk_commission_terms")),
    )
    op.create_table(
        "idempotent_answers",
        sa.Column("agent_key_id", sa.Integer(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["agent_key_id"], ["agent_keys.id"], name=op.f("fk_idempotent_answers_agent_key_id")),
        sa.PrimaryKeyConstraint("agent_key_id", "idempotency_key", name=op.f("pk_idempotent_answers")),
    )
    op.create_table(
        "partners",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.String(length=512), nullable=False),
        sa.Column("email", sa.String(length=255), nullable=True),
        sa.Column("code", sa.String(length=255), nullable=False),
        sa.Column("status", sa.String(length=16), server_default="active", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["program_id"], ["programs.id"], name=op.f("fk_partners_program_id")),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_partners")),
        sa.UniqueConstraint("program_id", "code", name=op.f("uq_partners_program_id_code")),
    )
    op.create_table(
        "program_keys",
        sa.Column("program_id", sa.Integer(), nullable=False),
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("prefix", sa.String(length=8), nullable=False),
        sa.Column("last4", sa.String(length=4), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("flagged_at", sa.BigInteger(), nullable=True),
        sa.Column("rotate_by", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["program_id"], ["programs.id"], name=op.f("fk_program_keys_program_id")),
        sa.PrimaryKeyConstraint("program_id", name=op.f("pk_program_keys")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_program_keys_key_hash")),
    )
    op.create_table(
        "retired_program_keys",
        sa.Column("key_hash", sa.String(length=64), nullable=False),
        sa.Column("program_id", sa.Integer(), nullable=False),
        sa.Column("retired_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["program_id"], ["programs.id"], name=op.f("fk_retired_program_keys_program_id")),
        sa.PrimaryKeyConstraint("key_hash", name=op.f("pk_retired_program_keys")),
    )
    op.create_table(
        "clicks",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("click_id", sa.String(length=64), nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("filtered", sa.String(length=16), nullable=True),
        sa.Column("landing_url", sa.Text(), nullable=False),
        sa.Column("page_url", sa.Text(), nullable=True),
        sa.Column("page_title", sa.Text(), nullable=True),
        sa.Column("referrer_url", sa.Text(), nullable=True),
        sa.Column("visitor", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["program_id", "partner_id"],
            ["partners.program_id", "partners.id"],
            name=op.f("fk_clicks_program_id_partner_id"),
        ),
        sa.PrimaryKeyConstraint("program_id", "click_id", name=op.f("pk_clicks")),
    )
    op.create_table(
        "commissions",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("customer_id", sa.BigInteger(), nullable=False),
        sa.Column("sale_id", sa.BigInteger(), nullable=True),
        sa.Column("lead_id", sa.BigInteger(), nullable=True),
        sa.Column("terms_version", sa.Integer(), nullable=False),
        sa.Column("amount_cents", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("hold_until", sa.BigInteger(), nullable=False),
        sa.Column("paid_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["program_id", "terms_version"],
            ["commission_terms.program_id", "commission_terms.version"],
            name=op.f("fk_commissions_program_id_terms_version"),
        ),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_commissions")),
    )
    with op.batch_alter_table("commissions", schema=None) as batch_op:
        batch_op.create_index("ix_commissions_lead", ["program_id", "lead_id"], unique=True)
        batch_op.create_index("ix_commissions_sale", ["program_id", "sale_id"], unique=True)
        batch_op.create_index("ix_commissions_status", ["program_id", "status", "id"], unique=False)

    op.create_table(
        "customers",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("click_id", sa.String(length=64), nullable=False),
        sa.Column("clicked_at", sa.BigInteger(), nullable=False),
        sa.Column("customer_key", sa.String(length=255), nullable=True),
        sa.Column("email_hash", sa.String(length=64), nullable=True),
        sa.Column("email_mask", sa.String(length=255), nullable=True),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("settlement", sa.String(length=16), nullable=False),
        sa.Column("signup_at", sa.BigInteger(), nullable=True),
        sa.Column("first_purchase_at", sa.BigInteger(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["program_id", "partner_id"],
            ["partners.program_id", "partners.id"],
            name=op.f("fk_customers_program_id_partner_id"),
        ),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_customers")),
        sa.UniqueConstraint("program_id", "click_id", name=op.f("uq_customers_program_id_click_id")),
        sa.UniqueConstraint("program_id", "customer_key", name=op.f("uq_customers_program_id_customer_key")),
    )
    with op.batch_alter_table("customers", schema=None) as batch_op:
        batch_op.create_index("ix_customers_partner", ["program_id", "partner_id"], unique=False)
        batch_op.create_index("ix_customers_status", ["program_id", "status", "id"], unique=False)

    op.create_table(
        "leads",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("customer_id", sa.BigInteger(), nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("settlement", sa.String(length=16), nullable=False),
        sa.Column("with_key", sa.Boolean(), nullable=False),
        sa.Column("event_name", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["program_id", "customer_id"],
            ["customers.program_id", "customers.id"],
            name=op.f("fk_leads_program_id_customer_id"),
            initially="DEFERRED",
            deferrable=True,
        ),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_leads")),
        sa.UniqueConstraint(
            "program_id", "customer_id", "settlement", name=op.f("uq_leads_program_id_customer_id_settlement")
        ),
    )
    op.create_table(
        "ledger_entries",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("commission_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("amount_cents", sa.BigInteger(), nullable=False),
        sa.Column("corrects_id", sa.BigInteger(), nullable=True),
        sa.Column("refund_id", sa.BigInteger(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["program_id", "commission_id"],
            ["commissions.program_id", "commissions.id"],
            name=op.f("fk_ledger_entries_program_id_commission_id"),
        ),
        sa.PrimaryKeyConstraint("program_id", "commission_id", "id", name=op.f("pk_ledger_entries")),
    )
    op.create_table(
        "sales",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("transaction_id", sa.String(length=255), nullable=False),
        sa.Column("customer_id", sa.BigInteger(), nullable=False),
        sa.Column("partner_id", sa.BigInteger(), nullable=False),
        sa.Column("amount_cents", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.String(length=3), nullable=False),
        sa.Column("program_cents", sa.BigInteger(), nullable=False),
        sa.Column("refunded_cents", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("details", sa.Text(), nullable=True),
        sa.Column("customer_key", sa.String(length=255), nullable=True),
        sa.Column("payload_hash", sa.String(length=64), nullable=False),
        sa.Column("occurred_at", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["program_id", "customer_id"],
            ["customers.program_id", "customers.id"],
            name=op.f("fk_sales_program_id_customer_id"),
            initially="DEFERRED",
            deferrable=True,
        ),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_sales")),
        sa.UniqueConstraint("program_id", "transaction_id", name=op.f("uq_sales_program_id_transaction_id")),
    )
    with op.batch_alter_table("sales", schema=None) as batch_op:
        batch_op.create_index("ix_sales_customer", ["program_id", "customer_id"], unique=False)

    op.create_table(
        "refunds",
        sa.Column("program_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("sale_id", sa.BigInteger(), nullable=False),
        sa.Column("refund_id", sa.String(length=255), nullable=True),
        sa.Column("amount_cents", sa.BigInteger(), nullable=False),
        sa.Column("program_cents", sa.BigInteger(), nullable=False),
        sa.Column("reversed_cents", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["program_id", "sale_id"], ["sales.program_id", "sales.id"], name=op.f("fk_refunds_program_id_sale_id")
        ),
        sa.PrimaryKeyConstraint("program_id", "id", name=op.f("pk_refunds")),
        sa.UniqueConstraint("program_id", "sale_id", "refund_id", name=op.f("uq_refunds_program_id_sale_id_refund_id")),
    )


def downgrade() -> None:

    op.drop_table("refunds")
    with op.batch_alter_table("sales", schema=None) as batch_op:
        batch_op.drop_index("ix_sales_customer")

    op.drop_table("sales")
    op.drop_table("ledger_entries")
    op.drop_table("leads")
    with op.batch_alter_table("customers", schema=None) as batch_op:
        batch_op.drop_index("ix_customers_status")
        batch_op.drop_index("ix_customers_partner")

    op.drop_table("customers")
    with op.batch_alter_table("commissions", schema=None) as batch_op:
        batch_op.drop_index("ix_commissions_status")
        batch_op.drop_index("ix_commissions_sale")
        batch_op.drop_index("ix_commissions_lead")

    op.drop_table("commissions")
    op.drop_table("clicks")
    op.drop_table("retired_program_keys")
    op.drop_table("program_keys")
    op.drop_table("partners")
    op.drop_table("idempotent_answers")
    op.drop_table("commission_terms")
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_sessions_user_id"))

    op.drop_table("sessions")
    with op.batch_alter_table("programs", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_programs_workspace_id"))

    op.drop_table("programs")
    with op.batch_alter_table("members", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_members_user_id"))

    op.drop_table("members")
    with op.batch_alter_table("agent_keys", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_agent_keys_workspace_id"))

    op.drop_table("agent_keys")
    op.drop_table("workspaces")
    op.drop_table("users")
    op.drop_table("tracking_log")
    with op.batch_alter_table("test_events", schema=None) as batch_op:
        batch_op.drop_index("ix_test_events_transaction")

    op.drop_table("test_events")
    op.drop_table("rollups")
    op.drop_table("refused_calls")
    op.drop_table("partner_rollups")
    op.drop_table("currency_rates")
    op.drop_table("audit_entries")
