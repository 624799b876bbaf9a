"""Clicks: one narrow row each, appended in the order of their ids; test clicks have their own table."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, String, Table, Text

from storage.tables.columns import metadata, program_id, timestamp_column

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
    ForeignKeyConstraint(["program_id", "partner_id"], ["partners.program_id", "partners.id"]),
)
