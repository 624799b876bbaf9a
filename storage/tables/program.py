"""Programs with terms, keys (as hashes), caps of agent keys and audit log; partners, flags of fraud, and imports."""

from sqlalchemy import BigInteger, Boolean, Column, Date, ForeignKey, Index, Integer, String, Text, UniqueConstraint

from storage.rules.attribution import AttributionModel, CouponWins, OldLinks, PaidAds, PartnerStatus, ProgramStatus
from storage.rules.commission import CommissionBasis
from storage.rules.settlement import LeadAuthPolicy
from storage.tables.columns import assigned_id, event_id, event_table, program_table, reference, table, timestamp_column
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
    Column("minimum_payout_cents", BigInteger, nullable=False, server_default="0"),
    Column("confirm_payouts", Boolean, nullable=False, server_default="0"),
    Column("coupon_wins", String(16), nullable=False, server_default=CouponWins.CLICK),
    Column("partners_see_amounts", Boolean, nullable=False, server_default="0"),
    Column("partners_may_apply", Boolean, nullable=False, server_default="0"),
    Column("payer_iban", String(34)),
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
    Column("by_agent", Boolean, nullable=False, server_default="0"),
    # Special terms are of a partner, or of a group, until they end; the others are the program's.
    Column("partner_id", BigInteger),
    Column("partner_group", String(64)),
    timestamp_column("ended_at", nullable=True),
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
    Column("apply_own_plans", Boolean),
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
    timestamp_column("leaked_at", nullable=True),  # when an owner said so: no call with it is kept
)

audit_entries = event_table(
    "audit_entries",
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

partners = table(
    "partners",
    Column("program_id", BigInteger, ForeignKey(programs.c.id), primary_key=True, autoincrement=False),
    event_id(),
    Column("name", String(512), nullable=False),
    Column("email", String(255)),
    Column("code", String(255), nullable=False),
    Column("code_key", String(255)),  # see storage/rules/attribution.py; NULL: only the code as it is names the partner
    Column("status", String(16), nullable=False, server_default=PartnerStatus.ACTIVE),
    Column("notes", Text),  # of the workspace, about the partner
    Column("minimum_payout_cents", BigInteger),  # NULL: the program's
    Column("partner_group", String(64)),
    Column("terms_version", Integer),  # of the special terms in force for the partner; NULL: the program's apply
    timestamp_column("created_at"),
    UniqueConstraint("program_id", "code"),
    Index("ix_partners_code_key", "program_id", "code_key", unique=True),
    Index("ix_partners_group", "program_id", "partner_group"),
)

coupons = event_table(
    "coupons",
    Column("partner_id", BigInteger, nullable=False),
    Column("code", String(255), nullable=False),
    Column("code_key", String(255), nullable=False),  # as of a partner's code
    timestamp_column("created_at"),
    timestamp_column("ended_at", nullable=True),
    UniqueConstraint("program_id", "code_key"),
    Index("ix_coupons_partner", "program_id", "partner_id"),
    reference("partner_id", "partners.id"),
)

flags = event_table(
    "flags",
    Column("kind", String(32), nullable=False),
    Column("subject", String(128), nullable=False),  # what was found: the same finding is never flagged twice
    Column("partner_id", BigInteger, nullable=False),
    Column("customer_id", BigInteger),
    Column("commission_id", BigInteger),
    Column("incident", String(128)),  # flags of one kind and partner with the same are one finding; NULL: none other
    Column("evidence", Text, nullable=False),
    Column("state", String(16), nullable=False),
    timestamp_column("held_from"),  # commissions that were created before are not held
    timestamp_column("created_at"),
    timestamp_column("decided_at", nullable=True),
    Column("decided_by", String(512)),
    Column("decided_by_key_id", BigInteger),
    Column("decision_reason", Text),
    UniqueConstraint("program_id", "kind", "subject"),
    Index("ix_flags_partner", "program_id", "partner_id"),
    reference("partner_id", "partners.id"),
)

imports = event_table(
    "imports",  # of the last hour
    Column("undo", Text, nullable=False),  # JSON, see storage/management/imports.py
    timestamp_column("at"),
)

plans = event_table(
    "plans",
    Column("status", String(16), nullable=False),
    Column("reason", String(512), nullable=False),
    Column("created_by", String(512), nullable=False),
    Column("decided_by", String(512)),
    Column("reverts_id", BigInteger),  # the plan that it takes back
    Column("content", Text, nullable=False),  # JSON, see storage/lists/plans.py
    timestamp_column("created_at"),
    timestamp_column("expires_at"),
    timestamp_column("decided_at", nullable=True),
)

saved_views = event_table(
    "saved_views",  # of Explore; a read-only link opens one until then
    Column("name", String(160), nullable=False),
    Column("query", String(2048), nullable=False),
    timestamp_column("shared_until", nullable=True),
)
