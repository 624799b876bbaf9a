"""Agent keys (as hashes only) with the responses to their Idempotency-Keys, and assistants that signed in by OAuth."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, String, Text

from storage.tables.columns import assigned_id, table, timestamp_column
from storage.tables.workspace import users, workspaces

agent_keys = table(
    "agent_keys",
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

idempotent_answers = table(
    "idempotent_answers",
    Column("agent_key_id", ForeignKey(agent_keys.c.id), primary_key=True),
    Column("idempotency_key", String(255), primary_key=True),
    Column("request_hash", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", Text, nullable=False),
    timestamp_column("at"),
)

assistant_clients = table(
    "assistant_clients",
    Column("client_id", String(512), primary_key=True),
    Column("name", String(255), nullable=False),
    Column("redirect_uris", Text, nullable=False),  # one on each line
    timestamp_column("kept_at"),
    timestamp_column("used_at", nullable=True),
)

assistants = table(
    "assistants",
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("client_id", String(512), nullable=False, index=True),
    Column("name", String(255), nullable=False),
    Column("host", String(255), nullable=False),
    Column("user_id", ForeignKey(users.c.id), nullable=False, index=True),
    Column("workspace_id", ForeignKey(workspaces.c.id), nullable=False, index=True),
    Column("scopes", Text, nullable=False),
    Column("program_ids", Text, nullable=False),
    Column("resource", Text, nullable=False),
    Column("redirect_uri", Text, nullable=False),
    Column("code_challenge", String(128), nullable=False),
    timestamp_column("connected_at"),
    timestamp_column("last_used_at", nullable=True),
)

assistant_tokens = table(
    "assistant_tokens",
    Column("token_hash", String(64), primary_key=True),
    Column("assistant_id", ForeignKey(assistants.c.id), nullable=False, index=True),
    Column("kind", String(8), nullable=False),
    Column("scopes", Text, nullable=False),
    timestamp_column("expires_at", index=True),
    timestamp_column("spent_at", nullable=True),
)
