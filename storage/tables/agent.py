"""Agent keys (stored as hashes only) and the responses stored for their Idempotency-Keys."""

from sqlalchemy import Column, ForeignKey, Integer, String, Table, Text

from storage.tables.columns import assigned_id, metadata, timestamp_column
from storage.tables.workspace import workspaces

agent_keys = Table(
    "agent_keys",
    metadata,
    assigned_id(),
    Column("workspace_id", ForeignKey(workspaces.c.id), nullable=False, index=True),
    Column("name", String(512), nullable=False),
    Column("key_hash", String(64), nullable=False, unique=True),
    Column("last4", String(4), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("program_ids", Text),
    timestamp_column("created_at"),
    timestamp_column("expires_at", nullable=True),
    timestamp_column("revoked_at", nullable=True),
    timestamp_column("last_used_at", nullable=True),
)

idempotent_answers = Table(
    "idempotent_answers",
    metadata,
    Column("agent_key_id", ForeignKey(agent_keys.c.id), primary_key=True),
    Column("idempotency_key", String(255), primary_key=True),
    Column("request_hash", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    timestamp_column("at"),
)
