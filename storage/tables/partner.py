"""Partners, with the code in their links; flags: signs of fraud that hold commissions until decided; and imports."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index, String, Text, UniqueConstraint

from storage.rules.attribution import PartnerStatus
from storage.tables.columns import event_id, program_table, timestamp_column

partners = program_table(
    "partners",
    event_id(),
    Column("name", String(512), nullable=False),
    Column("email", String(255)),
    Column("code", String(255), nullable=False),
    Column("code_key", String(255)),  # see storage/rules/attribution.py; NULL: only the code as it is names the partner
    Column("status", String(16), nullable=False, server_default=PartnerStatus.ACTIVE),
    Column("notes", Text),  # of the workspace, about the partner
    timestamp_column("created_at"),
    UniqueConstraint("program_id", "code"),
    Index("ix_partners_code_key", "program_id", "code_key", unique=True),
    ForeignKeyConstraint(["program_id"], ["programs.id"]),
)

flags = program_table(
    "flags",
    event_id(),
    Column("kind", String(32), nullable=False),
    Column("subject", String(128), nullable=False),  # what was found: the same finding is never flagged twice
    Column("partner_id", BigInteger, nullable=False),
    Column("customer_id", BigInteger),
    Column("commission_id", BigInteger),
    Column("incident", String(128)),  # flags of one kind and partner with the same are one finding; NULL: none other
    Column("evidence", Text, nullable=False),
    Column("state", String(16), nullable=False),
    timestamp_column("held_from"),  # commissions that were created before are not held
    timestamp_column("created_at"),
    timestamp_column("decided_at", nullable=True),
    Column("decided_by", String(512)),
    Column("decided_by_key_id", BigInteger),
    Column("decision_reason", Text),
    UniqueConstraint("program_id", "kind", "subject"),
    Index("ix_flags_partner", "program_id", "partner_id"),
    ForeignKeyConstraint(["program_id", "partner_id"], ["partners.program_id", "partners.id"]),
)

imports = program_table(
    "imports",  # of the last hour
    event_id(),
    Column("undo", Text, nullable=False),  # JSON, see storage/management/import_undo.py
    timestamp_column("at"),
)
