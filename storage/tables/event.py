"""Real lead, sale and refund events; the unique keys decide what is a duplicate."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKeyConstraint, Index, String, Table, Text, UniqueConstraint

from storage.tables.columns import event_id, metadata, program_id, timestamp_column


def _customer() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["program_id", "customer_id"],
        ["customers.program_id", "customers.id"],
        deferrable=True,
        initially="DEFERRED",  # a sale's unique key is checked before its customer is created
    )


leads = Table(
    "leads",
    metadata,
    program_id(),
    event_id(),
    Column("customer_id", BigInteger, nullable=False),
    Column("partner_id", BigInteger, nullable=False),
    Column("settlement", String(16), nullable=False),
    Column("with_key", Boolean, nullable=False),
    Column("event_name", Text),
    Column("address_hash", String(24)),  # of a browser, as on a click
    Column("outranked_by", BigInteger),
    timestamp_column("outranked_at", nullable=True),
    timestamp_column("at"),
    UniqueConstraint("program_id", "customer_id", "settlement"),
    Index("ix_leads_outranked_by", "program_id", "outranked_by"),
    _customer(),
)

sales = Table(
    "sales",
    metadata,
    program_id(),
    event_id(),
    Column("transaction_id", String(255), nullable=False),
    Column("customer_id", BigInteger, nullable=False),
    Column("partner_id", BigInteger, nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("currency", String(3), nullable=False),
    Column("program_cents", BigInteger, nullable=False),
    Column("refunded_cents", BigInteger, nullable=False, server_default="0"),
    Column("details", Text),
    Column("customer_key", String(255)),
    Column("payload_hash", String(64), nullable=False),
    Column("provenance", String(16), nullable=False, server_default="api"),
    timestamp_column("occurred_at"),
    timestamp_column("at"),
    UniqueConstraint("program_id", "transaction_id"),
    Index("ix_sales_customer", "program_id", "customer_id"),
    _customer(),
)

refunds = Table(
    "refunds",
    metadata,
    program_id(),
    event_id(),
    Column("sale_id", BigInteger, nullable=False),
    Column("refund_id", String(255)),
    Column("amount_cents", BigInteger, nullable=False),
    Column("program_cents", BigInteger, nullable=False),
    Column("reversed_cents", BigInteger, nullable=False),
    Column("reason", Text),
    Column("request_id", String(64)),  # of the call: the unique key rejects a second run of it
    timestamp_column("at"),
    UniqueConstraint("program_id", "sale_id", "refund_id"),
    Index("ix_refunds_request", "program_id", "request_id", unique=True),
    ForeignKeyConstraint(["program_id", "sale_id"], ["sales.program_id", "sales.id"]),
)
