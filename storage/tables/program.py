"""Programs, the versions of their terms, the caps of agent keys, program keys (as hashes only), and the audit log."""

from sqlalchemy import BigInteger, Boolean, Column, Date, ForeignKey, Index, Integer, String, Text, false

from storage.rules.attribution import AttributionModel, OldLinks, PaidAds, ProgramStatus
from storage.rules.commission import CommissionBasis
from storage.rules.settlement import LeadAuthPolicy
from storage.tables.columns import assigned_id, event_id, program_table, table, timestamp_column
from storage.tables.workspace import workspaces

programs = table(
    "programs",
    assigned_id(),
    Column("workspace_id", ForeignKey(workspaces.c.id), nullable=False, index=True),
    Column("name", String(512), nullable=False),
    Column("domain", String(255), nullable=False),
    Column("further_domains", String(1024)),
    Column("currency", String(3), nullable=False, server_default="USD"),
    Column("attribution_model", String(16), nullable=False, server_default=AttributionModel.LAST_CLICK),
    Column("cookie_window_days", Integer, nullable=False, server_default="60"),
    Column("attribution_window_days", Integer, nullable=False, server_default="60"),
    Column("hold_days", Integer, nullable=False, server_default="15"),
    Column("lead_auth_policy", String(16), nullable=False, server_default=LeadAuthPolicy.SERVER_REQUIRED),
    Column("paid_ads", String(16), nullable=False, server_default=PaidAds.ALLOWED),
    Column("old_links", String(16), nullable=False, server_default=OldLinks.NONE),
    Column("status", String(16), nullable=False, server_default=ProgramStatus.ACTIVE),
    Column("terms_version", Integer, nullable=False, server_default="1"),
    Column("revision", Integer, nullable=False, server_default="1"),
    timestamp_column("created_at"),
    Column("sandbox_of", ForeignKey("programs.id")),
    Index("ix_programs_sandbox_of", "sandbox_of", unique=True),
)

commission_terms = table(
    "commission_terms",
    Column("program_id", BigInteger, ForeignKey(programs.c.id), primary_key=True, autoincrement=False),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("commission_type", String(16), nullable=False),
    Column("rate", BigInteger, nullable=False),
    Column("lead_commission_cents", BigInteger, nullable=False),
    Column("recurring_months", Integer),
    Column("platform_fee_bps", Integer, nullable=False),
    Column("minimum_order_cents", BigInteger, nullable=False, server_default="0"),
    Column("commission_basis", String(16), nullable=False, server_default=CommissionBasis.TOTAL),  # from before it
    Column("by_agent", Boolean, nullable=False, server_default=false()),
    timestamp_column("created_at"),
)

agent_caps = table(
    "agent_caps",
    Column("program_id", ForeignKey(programs.c.id), primary_key=True, autoincrement=False),
    Column("frozen_settings", Text),
    Column("rate_step_bps", Integer),
    Column("rate_change_in_30_days_bps", Integer),
    Column("highest_rate_bps", Integer),
    Column("highest_flat_rate_cents", BigInteger),
    Column("highest_lead_commission_cents", BigInteger),
    Column("two_keys_to_pay", Boolean),
    Column("commissions_in_a_day", Integer),
    Column("amount_in_a_day_cents", BigInteger),
)

# What agent keys approved and what they paid on a UTC day: the row is locked by each decision that adds to it.
agent_decisions = program_table(
    "agent_decisions",
    Column("day", Date, primary_key=True),
    Column("status", String(16), primary_key=True),
    Column("commissions", Integer, nullable=False),
    Column("cents", BigInteger, nullable=False),
)

# What the agent API rejected, by agent key and cause; `about` is the cap or the scope.
agent_rejections = program_table(
    "agent_rejections",
    Column("agent_key_id", BigInteger, primary_key=True, autoincrement=False),
    Column("code", String(64), primary_key=True),
    Column("about", String(64), primary_key=True),
    Column("calls", BigInteger, nullable=False),
    timestamp_column("first_at"),
    timestamp_column("last_at"),
)

program_keys = table(
    "program_keys",
    Column("program_id", ForeignKey(programs.c.id), primary_key=True),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("prefix", String(8), nullable=False),
    Column("last4", String(4), nullable=False),
    timestamp_column("created_at"),
    timestamp_column("flagged_at", nullable=True),
    timestamp_column("rotate_by", nullable=True),
)

retired_program_keys = table(
    "retired_program_keys",
    Column("key_hash", String(64), primary_key=True),
    Column("program_id", ForeignKey(programs.c.id), nullable=False, index=True),
    timestamp_column("retired_at"),
)

audit_entries = program_table(
    "audit_entries",
    event_id(),
    Column("actor_type", String(16), nullable=False),
    Column("actor_id", String(64), nullable=False),
    Column("actor_name", String(512), nullable=False),
    Column("action", String(64), nullable=False),
    Column("subject_id", String(64)),
    Column("field", String(64)),
    Column("before", Text),
    Column("after", Text),
    timestamp_column("at"),
)
