"""Daily totals, incremented in the event's own transaction: one row for a program's day, one for a partner's."""

from sqlalchemy import BigInteger, Column, Date, Table

from storage.tables.columns import metadata, program_id

COUNTS = ("clicks", "leads", "conversions", "sales", "revenue_cents", "commission_cents", "partners")


def _counts() -> list[Column[int]]:
    return [Column(name, BigInteger, nullable=False, server_default="0") for name in COUNTS]


rollups = Table("rollups", metadata, program_id(), Column("day", Date, primary_key=True), *_counts())

partner_rollups = Table(
    "partner_rollups",
    metadata,
    program_id(),
    Column("day", Date, primary_key=True),
    Column("partner_id", BigInteger, primary_key=True, autoincrement=False),
    *_counts(),
)
