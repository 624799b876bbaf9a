"""The last batch that each writing lane committed: it shows whether a COMMIT without a response succeeded."""

from sqlalchemy import Column, String, Table

from storage.tables.columns import metadata, timestamp_column

committed_batches = Table(
    "committed_batches",
    metadata,
    Column("lane", String(32), primary_key=True),
    Column("token", String(32), nullable=False),
    timestamp_column("at"),
)
