"""Workspaces, people and how they sign in, agent keys (as hashes), and assistants that signed in by OAuth."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, LargeBinary, String, Text, UniqueConstraint

from storage.tables.columns import assigned_id, table, timestamp_column

workspaces = table(
    "workspaces",
    assigned_id(),
    Column("name", String(512), nullable=False),
    timestamp_column("created_at"),
    Column("time_zone", String(64), nullable=False, server_default="UTC"),
    Column("logo_version", String(16)),  # changes with the logo; NULL: there is none
)

workspace_logos = table(
    "workspace_logos",
    Column("workspace_id", ForeignKey(workspaces.c.id), primary_key=True),
    Column("media_type", String(32), nullable=False),
    Column("content", LargeBinary, nullable=False),
)

users = table(
    "users",
    assigned_id(),
    Column("email", String(255), nullable=False, unique=True),
    Column("password_hash", String(255), nullable=False),
    timestamp_column("created_at"),
    Column("name", String(255)),
    Column("theme", String(16), nullable=False, server_default="system"),
    Column("time_format", String(16), nullable=False, server_default="24"),
    # when its password was set by a link that went to the mailbox alone; NULL: never, or an owner's link set it since
    timestamp_column("email_proven_at", nullable=True),
)

members = table(
    "members",
    Column("workspace_id", ForeignKey(workspaces.c.id), primary_key=True),
    Column("user_id", ForeignKey(users.c.id), primary_key=True, index=True),
    Column("role", String(16), nullable=False),
    Column("status", String(16), nullable=False, server_default="active"),
    timestamp_column("created_at"),
)

invitations = table(
    "invitations",
    assigned_id(),
    Column("token_hash", String(64), nullable=False, unique=True),
    Column("workspace_id", ForeignKey(workspaces.c.id), nullable=False),
    Column("email", String(255), nullable=False),
    Column("role", String(16), nullable=False),
    timestamp_column("created_at"),
    timestamp_column("expires_at"),
    Column("created_by", BigInteger),  # the owner's user id; NULL: the operator, who answers to no membership
    Column("mailed_hash", String(64)),  # of the proof that only the e-mailed link has
    UniqueConstraint("workspace_id", "email"),
)

sessions = table(
    "sessions",
    Column("token_hash", String(64), primary_key=True),
    Column("user_id", ForeignKey(users.c.id), nullable=False, index=True),
    Column("client", String(255)),  # the name of the browser or the device: untrusted text
    timestamp_column("created_at"),
    timestamp_column("expires_at"),
    timestamp_column("used_at", nullable=True),  # to the hour; NULL: not since it began
)

device_logins = table(
    "device_logins",
    Column("device_hash", String(64), primary_key=True),
    Column("user_code", String(16), nullable=False, unique=True),
    Column("client", String(255), nullable=False),
    Column("user_id", ForeignKey(users.c.id)),
    Column("approved", Boolean),
    timestamp_column("created_at"),
    timestamp_column("expires_at"),
    timestamp_column("polled_at", nullable=True),
    Column("interval_seconds", Integer, nullable=False, server_default="2"),
)

password_resets = table(
    "password_resets",
    Column("token_hash", String(64), primary_key=True),
    Column("user_id", ForeignKey(users.c.id), nullable=False, index=True),
    timestamp_column("expires_at"),
    Column("created_by", BigInteger),  # the owner's user id; NULL: the operator, or the holder of the mailbox
    Column("is_mailed", Boolean, nullable=False, server_default="0"),  # to the account's own mailbox alone
    timestamp_column("usable_at", nullable=True),  # an owner's link for another owner waits; NULL: at once
)

second_factors = table(
    "second_factors",
    Column("user_id", ForeignKey(users.c.id), primary_key=True),
    Column("sealed_secret", Text, nullable=False),
    Column("last_step", BigInteger, nullable=False),  # the time step of the last code that was accepted
    timestamp_column("confirmed_at", nullable=True),
)

recovery_codes = table(
    "recovery_codes",
    Column("user_id", ForeignKey(users.c.id), primary_key=True),
    Column("code_hash", String(64), primary_key=True),
)

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
