"""What integrations leave (tests, logs, rejected and repeated calls), payment accounts, and notes of processes.

A batch without a response to its COMMIT is looked up by its token. On a distributed database, the row of a program's
place shows a statement where to store rows, and tokens lie beside the events.
"""

from sqlalchemy import BigInteger, Boolean, Column, Date, ForeignKey, Index, String, Text

from storage.tables.columns import event_table, program_table, table, timestamp_column
from storage.tables.program import programs

test_events = event_table(
    "test_events",  # 0 while the event names no program
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

tracking_log = event_table(
    "tracking_log",
    Column("call", String(16), nullable=False),
    Column("message", Text, nullable=False),
    Column("event_id", BigInteger),
    timestamp_column("at"),
)

refused_calls = event_table(
    "refused_calls",
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

# What a replay needs of a rejected call, under the id that it has in refused_calls; of one with a replaced key, too.
kept_calls = event_table(
    "kept_calls",
    Column("call", String(16), nullable=False),
    Column("code", String(64), nullable=False),
    Column("state", String(16), nullable=False),  # see storage/tracking/kept_calls.py
    Column("sealed", Text),  # the call, encrypted; null once it is replayed or discarded
    Column("caller", String(192)),
    timestamp_column("tried_at", nullable=True),  # of the last replay or decision
    timestamp_column("at"),
    Index("ix_kept_calls_state", "program_id", "state", "tried_at", "id"),
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

committed_batches = table(
    "committed_batches",
    Column("lane", String(32), primary_key=True),
    Column("token", String(32), nullable=False),
    timestamp_column("at"),
)

program_places = table(
    "program_places",
    Column("program_id", ForeignKey(programs.c.id), primary_key=True, autoincrement=False),
)

program_batches = program_table(
    "program_batches",
    Column("lane", String(32), primary_key=True),
    Column("token", String(32), nullable=False),
    timestamp_column("at"),
)

recurring_tasks = table("recurring_tasks", Column("name", String(64), primary_key=True), timestamp_column("started_at"))
