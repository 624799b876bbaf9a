"""Clicks, one narrow row each in the order of their ids; how far they are deleted; and hand-over tokens that were used.

On PostgreSQL clicks are partitioned by month (storage/tracking/click_months.py) and have no foreign key.
"""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index, String, Table, Text, text

from storage.tables.columns import metadata, program_id, timestamp_column

_UNFILLED = text("dimensions IS NULL")  # clicks from before the column; a new click adds nothing to this index

clicks = Table(
    "clicks",
    metadata,
    program_id(),
    Column("click_id", String(64), primary_key=True),
    Column("partner_id", BigInteger, nullable=False),
    timestamp_column("at"),
    Column("filtered", String(16)),
    Column("landing_url", Text, nullable=False),
    Column("page_url", Text),
    Column("page_title", Text),
    Column("referrer_url", Text),
    Column("visitor", Text),
    Column("referrer_host", String(253)),
    Column("ad_markers", String(128)),
    Column("address_hash", String(24)),
    Column("dimensions", Text),  # JSON, see storage/rules/dimensions.py
    Index("ix_clicks_unfilled", "program_id", "click_id", sqlite_where=_UNFILLED, postgresql_where=_UNFILLED),
    ForeignKeyConstraint(["program_id", "partner_id"], ["partners.program_id", "partners.id"]).ddl_if("sqlite"),
)

click_retention = Table("click_retention", metadata, program_id(), timestamp_column("deleted_before"))

used_handovers = Table(
    "used_handovers",
    metadata,
    program_id(),
    Column("nonce", String(32), primary_key=True),
    timestamp_column("expires_at"),
)
