"""What integrations leave: test events, the tracking log, rejected calls, repeated calls, and who uses a key."""

from sqlalchemy import BigInteger, Boolean, Column, Date, Index, String, Text

from storage.tables.columns import event_id, program_table, timestamp_column

test_events = program_table(
    "test_events",  # 0 while the event names no program
    event_id(),
    Column("kind", String(16), nullable=False),
    Column("is_test", Boolean, nullable=False),
    Column("with_key", Boolean, nullable=False),
    Column("transaction_id", String(255)),
    Column("amount_cents", BigInteger),
    Column("event_name", Text),
    Column("customer_key", String(255)),
    Column("click_id", String(255)),
    Column("email_mask", String(255)),
    Column("refunded_cents", BigInteger, nullable=False, server_default="0"),
    timestamp_column("at"),
    Index("ix_test_events_transaction", "program_id", "transaction_id"),
)

tracking_log = program_table(
    "tracking_log",
    event_id(),
    Column("call", String(16), nullable=False),
    Column("message", Text, nullable=False),
    Column("event_id", BigInteger),
    timestamp_column("at"),
)

refused_calls = program_table(
    "refused_calls",
    event_id(),
    Column("call", String(16), nullable=False),
    Column("code", String(64), nullable=False),
    Column("message", Text, nullable=False),
    Column("fields", Text),
    Column("customer_key", String(255)),
    Column("click_id", String(255)),
    Column("transaction_id", String(255)),
    Column("amount_cents", BigInteger),
    Column("currency", String(3)),
    Column("same_payload", Boolean),  # of a repeated sale: whether it was the recorded one again
    Column("request_id", String(64)),
    Column("caller", String(192)),  # as on a sale; null before version 0.4.0
    timestamp_column("occurred_at", nullable=True),  # of a backfill
    timestamp_column("at"),
)

idempotent_calls = program_table(
    "idempotent_calls",
    Column("idempotency_key", String(255), primary_key=True),
    Column("request_hash", String(64), nullable=False),
    Column("body", Text, nullable=False),
    timestamp_column("at"),
)

key_callers = program_table(
    "key_callers",
    Column("key_hash", String(64), primary_key=True),
    Column("call", String(16), primary_key=True),
    Column("user_agent", String(160), primary_key=True),
    Column("network_hash", String(24), primary_key=True),
    Column("calls", BigInteger, nullable=False),
    timestamp_column("first_at"),
    timestamp_column("last_at"),
)

key_caller_weeks = program_table(
    "key_caller_weeks",
    Column("key_hash", String(64), primary_key=True),
    Column("caller", String(192), primary_key=True),
    Column("week", Date, primary_key=True),  # its Monday
    Column("calls", BigInteger, nullable=False),
)
