"""The hand-over tokens that were used: the primary key lets each be used once; expired ones are deleted."""

from sqlalchemy import Column, String, Table

from storage.tables.columns import metadata, program_id, timestamp_column

used_handovers = Table(
    "used_handovers",
    metadata,
    program_id(),
    Column("nonce", String(32), primary_key=True),
    timestamp_column("expires_at"),
)
