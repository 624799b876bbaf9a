"""Connected payment accounts, the events that they sent, and what links those to customers and sales."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, String, Text

from storage.tables.columns import program_table, table, timestamp_column
from storage.tables.program import programs

payment_accounts = table(
    "payment_accounts",
    Column("program_id", BigInteger, ForeignKey(programs.c.id), primary_key=True, autoincrement=False),
    Column("provider", String(16), nullable=False),
    Column("account_id", String(255), nullable=False),
    Column("sealed_secrets", Text, nullable=False),
    timestamp_column("connected_at"),
)

payment_events = program_table(
    "payment_events",
    Column("event_id", String(255), primary_key=True),
    Column("id", BigInteger, nullable=False),
    Column("type", String(64), nullable=False),
    Column("outcome", String(64), nullable=False),
    Column("transaction_id", String(255)),
    Column("waits_for", String(255)),
    Column("payment", Text),
    Column("is_test", Boolean, nullable=False, server_default="0"),
    timestamp_column("occurred_at"),
    timestamp_column("received_at"),
    Index("ix_payment_events_newest", "program_id", "id", unique=True),
    Index("ix_payment_events_waiting", "program_id", "waits_for"),
    Index("ix_payment_events_outcome", "program_id", "outcome", "id"),
)

payment_event_names = program_table(
    "payment_event_names",
    Column("name", String(300), primary_key=True),
    Column("event_id", String(255), primary_key=True),
)

payment_references = program_table(
    "payment_references",
    Column("reference", String(255), primary_key=True),
    Column("transaction_id", String(255), nullable=False),
    Index("ix_payment_references_transaction", "program_id", "transaction_id"),
)

payment_customers = program_table(
    "payment_customers",
    Column("processor_customer", String(255), primary_key=True),
    Column("click_id", String(64), nullable=False),
)

payment_returns = program_table(
    "payment_returns",
    Column("reference", String(255), primary_key=True),
    Column("return_id", String(255), primary_key=True),
    Column("kind", String(16), nullable=False),
    Column("amount_cents", BigInteger, nullable=False),
    Column("stands", Boolean, nullable=False),
    Column("totals", Text),  # of a charge, all that were reported; null where `amount_cents` is the only one
    timestamp_column("told_at"),
)
