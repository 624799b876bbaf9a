"""Commissions, the ledger, where every change of a balance is a signed entry, exchange rates, and daily totals.

The totals of a program and a partner are incremented in the event's own transaction, those by dimension added later.
"""

from sqlalchemy import BigInteger, Column, Date, Index, Integer, String, Text

from storage.tables.columns import AssignedId, event_id, program_table, reference, table, timestamp_column

commissions = program_table(
    "commissions",
    event_id(),
    Column("partner_id", BigInteger, nullable=False),
    Column("customer_id", BigInteger, nullable=False),
    Column("sale_id", BigInteger),
    Column("lead_id", BigInteger),
    Column("terms_version", Integer, nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("currency", String(3), nullable=False),
    Column("status", String(16), nullable=False),
    Column("approved_by_key_id", AssignedId),
    Column("credited_by", String(512)),  # who credited it by hand; NULL: the sale or lead was reported
    timestamp_column("created_at"),
    timestamp_column("hold_until"),
    timestamp_column("paid_at", nullable=True),
    Index("ix_commissions_sale", "program_id", "sale_id", unique=True),
    Index("ix_commissions_status", "program_id", "status", "id"),
    Index("ix_commissions_lead", "program_id", "lead_id", unique=True),
    reference("terms_version", "commission_terms.version"),
)

ledger_entries = program_table(
    "ledger_entries",
    event_id(),
    Column("partner_id", BigInteger, nullable=False),
    Column("commission_id", BigInteger),
    Column("payout_id", BigInteger),
    Column("kind", String(32), nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("corrects_id", BigInteger),
    Column("refund_id", BigInteger),
    Column("reason", Text),  # of a bonus, a correction or a move
    timestamp_column("at"),
    Index("ix_ledger_entries_commission", "program_id", "commission_id"),
    Index("ix_ledger_entries_partner", "program_id", "partner_id"),
    reference("commission_id", "commissions.id"),
)

currency_rates = table(
    "currency_rates",
    Column("currency", String(3), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("per_euro", String(32), nullable=False),
)

COUNTS = ("clicks", "leads", "conversions", "sales", "revenue_cents", "commission_cents", "partners")


def _counts() -> list[Column[int]]:
    return [Column(name, BigInteger, nullable=False, server_default="0") for name in COUNTS]


# `changes` counts what changed the day besides clicks: it says that the totals by dimension are out of date.
rollups = program_table(
    "rollups",
    Column("day", Date, primary_key=True),
    *_counts(),
    Column("changes", BigInteger, nullable=False, server_default="0"),
)

partner_rollups = program_table(
    "partner_rollups",
    Column("day", Date, primary_key=True),
    Column("partner_id", BigInteger, primary_key=True, autoincrement=False),
    *_counts(),
)

dimension_rollups = program_table(
    "dimension_rollups",
    Column("dimension", String(16), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("totals", Text, nullable=False),  # JSON, see storage/rules/reports/dimension_totals.py
)

# How far a day's totals by dimension are: `clicks` of those before the click id `until`, and its `changes`.
grouped_days = program_table(
    "grouped_days",
    Column("day", Date, primary_key=True),
    Column("phase", String(8), nullable=False, default="open"),  # which 0.3.0 reads beside this version
    Column("until", String(64), nullable=False),
    Column("clicks", BigInteger, nullable=False),
    Column("changes", BigInteger, nullable=False),
)
