"""When each background task last began: the process that stores a new time runs the task, the others do not."""

from sqlalchemy import Column, String, Table

from storage.tables.columns import metadata, timestamp_column

recurring_tasks = Table(
    "recurring_tasks", metadata, Column("name", String(64), primary_key=True), timestamp_column("started_at")
)
