"""Commissions, the ledger, where every change of a balance is a signed entry, and the rates that convert sales."""

from sqlalchemy import BigInteger, Column, Date, ForeignKeyConstraint, Index, Integer, String, Table

from storage.tables.columns import AssignedId, event_id, metadata, program_id, timestamp_column

commissions = Table(
    "commissions",
    metadata,
    program_id(),
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
    timestamp_column("created_at"),
    timestamp_column("hold_until"),
    timestamp_column("paid_at", nullable=True),
    Index("ix_commissions_sale", "program_id", "sale_id", unique=True),
    Index("ix_commissions_status", "program_id", "status", "id"),
    Index("ix_commissions_lead", "program_id", "lead_id", unique=True),
    ForeignKeyConstraint(["program_id", "terms_version"], ["commission_terms.program_id", "commission_terms.version"]),
)

ledger_entries = Table(
    "ledger_entries",
    metadata,
    program_id(),
    event_id(),
    Column("partner_id", BigInteger, nullable=False),
    Column("commission_id", BigInteger),
    Column("payout_id", BigInteger),
    Column("kind", String(32), nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("corrects_id", BigInteger),
    Column("refund_id", BigInteger),
    timestamp_column("at"),
    Index("ix_ledger_entries_commission", "program_id", "commission_id"),
    Index("ix_ledger_entries_partner", "program_id", "partner_id"),
    ForeignKeyConstraint(["program_id", "commission_id"], ["commissions.program_id", "commissions.id"]),
)

currency_rates = Table(
    "currency_rates",
    metadata,
    Column("currency", String(3), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("per_euro", String(32), nullable=False),
)
