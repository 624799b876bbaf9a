"""Stores a day's totals by dimension, which a background task adds up after the events (docs/decisions/0037)."""

from typing import Any

from sqlalchemy import Connection, delete, insert, update

from storage.engine.database import insert_for
from storage.rules.reports.dimension_totals import STORED, DayStep, written
from storage.tables import dimension_rollups, grouped_days


def save(connection: Connection, step: DayStep) -> bool:
    """Replace a day's totals; False, with nothing stored, if another process has grouped the day since."""
    if not _advance(connection, step):
        return False
    row = dimension_rollups.c
    mine = (row.program_id == step.program_id, row.dimension.in_(STORED), row.day == step.day)
    connection.execute(delete(dimension_rollups).where(*mine))
    rows = [
        {"program_id": step.program_id, "day": step.day, "dimension": dimension.value, "totals": written(values)}
        for dimension, values in step.totals.items()
    ]
    connection.execute(insert(dimension_rollups), rows)
    return True


def _advance(connection: Connection, step: DayStep) -> bool:
    mine = {"program_id": step.program_id, "day": step.day}
    statement: Any
    if step.before is None:
        statement = insert_for(connection)(grouped_days).values(**mine, **step.after._asdict()).on_conflict_do_nothing()
    else:
        unchanged = [grouped_days.c[name] == value for name, value in (mine | step.before._asdict()).items()]
        statement = update(grouped_days).where(*unchanged).values(step.after._asdict())
    return connection.execute(statement).rowcount == 1
