"""Daily totals: of a program and a partner, incremented in the event's own transaction; by dimension, added later."""

from sqlalchemy import BigInteger, Column, Date, String, Table, Text

from storage.tables.columns import metadata, program_id

COUNTS = ("clicks", "leads", "conversions", "sales", "revenue_cents", "commission_cents", "partners")


def _counts() -> list[Column[int]]:
    return [Column(name, BigInteger, nullable=False, server_default="0") for name in COUNTS]


# `changes` counts what changed the day besides clicks: it says that the totals by dimension are out of date.
rollups = Table(
    "rollups",
    metadata,
    program_id(),
    Column("day", Date, primary_key=True),
    *_counts(),
    Column("changes", BigInteger, nullable=False, server_default="0"),
)

partner_rollups = Table(
    "partner_rollups",
    metadata,
    program_id(),
    Column("day", Date, primary_key=True),
    Column("partner_id", BigInteger, primary_key=True, autoincrement=False),
    *_counts(),
)

dimension_rollups = Table(
    "dimension_rollups",
    metadata,
    program_id(),
    Column("dimension", String(16), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("totals", Text, nullable=False),  # JSON, see storage/rules/dimension_totals.py
)

# How far a day's totals by dimension are: `clicks` of those before the click id `until`, and its `changes`.
grouped_days = Table(
    "grouped_days",
    metadata,
    program_id(),
    Column("day", Date, primary_key=True),
    Column("phase", String(8), nullable=False),
    Column("until", String(64), nullable=False),
    Column("clicks", BigInteger, nullable=False),
    Column("changes", BigInteger, nullable=False),
)
