"""One row for each program beside its events: on a distributed database it shows a statement where to store rows."""

from sqlalchemy import Column, ForeignKey, String, Table

from storage.tables.columns import metadata, program_id, timestamp_column
from storage.tables.program import programs

program_places = Table(
    "program_places",
    metadata,
    Column("program_id", ForeignKey(programs.c.id), primary_key=True, autoincrement=False),
)

# What committed_batches is to a whole database, beside the events of each program.
program_batches = Table(
    "program_batches",
    metadata,
    program_id(),
    Column("lane", String(32), primary_key=True),
    Column("token", String(32), nullable=False),
    timestamp_column("at"),
)
