"""The audit log: who changed which field of what, from what to what."""

from sqlalchemy import Column, String, Table, Text

from storage.tables.columns import event_id, metadata, program_id, timestamp_column

audit_entries = Table(
    "audit_entries",
    metadata,
    program_id(),
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
