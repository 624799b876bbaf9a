"""Customers: made from a click at the first lead or sale, and linked to that click's partner for good."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    UniqueConstraint,
    false,
)

from storage.tables.columns import event_id, metadata, program_id, timestamp_column

customers = Table(
    "customers",
    metadata,
    program_id(),
    event_id(),
    Column("partner_id", BigInteger, nullable=False),
    Column("click_id", String(64), nullable=False),
    timestamp_column("clicked_at"),
    Column("customer_key", String(255)),
    Column("confirmed", Boolean, nullable=False, server_default=false()),
    Column("email_hash", String(64)),
    Column("email_mask", String(255)),
    Column("status", String(16), nullable=False),
    Column("settlement", String(16), nullable=False),
    timestamp_column("signup_at", nullable=True),
    timestamp_column("first_purchase_at", nullable=True),
    Column("revision", Integer, nullable=False),
    timestamp_column("created_at"),
    UniqueConstraint("program_id", "click_id"),
    UniqueConstraint("program_id", "customer_key"),
    Index("ix_customers_status", "program_id", "status", "id"),
    Index("ix_customers_partner", "program_id", "partner_id"),
    Index("ix_customers_email", "program_id", "email_hash"),
    ForeignKeyConstraint(["program_id", "partner_id"], ["partners.program_id", "partners.id"]),
)
