"""What processes tell each other: each lane's last batch, the turns of background tasks, and places of programs.

A batch without a response to its COMMIT is looked up by its token. On a distributed database, the row of a program's
place shows a statement where to store rows, and tokens lie beside the events.
"""

from sqlalchemy import Column, ForeignKey, String

from storage.tables.columns import program_table, table, timestamp_column
from storage.tables.program import programs

committed_batches = table(
    "committed_batches",
    Column("lane", String(32), primary_key=True),
    Column("token", String(32), nullable=False),
    timestamp_column("at"),
)

program_places = table(
    "program_places",
    Column("program_id", ForeignKey(programs.c.id), primary_key=True, autoincrement=False),
)

program_batches = program_table(
    "program_batches",
    Column("lane", String(32), primary_key=True),
    Column("token", String(32), nullable=False),
    timestamp_column("at"),
)

recurring_tasks = table("recurring_tasks", Column("name", String(64), primary_key=True), timestamp_column("started_at"))
