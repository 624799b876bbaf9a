"""Partner-program records: one partner's enrolment in one program, and the code in its links."""

from sqlalchemy import Column, ForeignKeyConstraint, String, Table, Text, UniqueConstraint

from storage.rules.attribution import PartnerStatus
from storage.tables.columns import event_id, metadata, program_id, timestamp_column

partners = Table(
    "partners",
    metadata,
    program_id(),
    event_id(),
    Column("name", String(512), nullable=False),
    Column("email", String(255)),
    Column("code", String(255), nullable=False),
    Column("status", String(16), nullable=False, server_default=PartnerStatus.ACTIVE),
    Column("notes", Text),  # of the workspace, about the partner
    timestamp_column("created_at"),
    UniqueConstraint("program_id", "code"),
    ForeignKeyConstraint(["program_id"], ["programs.id"]),
)
