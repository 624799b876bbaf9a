"""How far a program's clicks are deleted: the daily totals before this time no longer have their clicks."""

from sqlalchemy import Table

from storage.tables.columns import metadata, program_id, timestamp_column

click_retention = Table("click_retention", metadata, program_id(), timestamp_column("deleted_before"))
