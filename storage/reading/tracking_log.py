"""The tracking log: the test-mode calls of a program, newest first."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.tables import tracking_log


class LogEntry(NamedTuple):
    """One line of the log: the call, and the test event that it stored."""

    id: int
    at: datetime
    call: str
    event_id: int | None
    message: str


def list_entries(connection: Connection, program_id: int, paging: Paging = FIRST_PAGE) -> Page[LogEntry]:
    """Return a page of a program's tracking log, newest first."""
    mine = select(tracking_log).where(tracking_log.c.program_id == program_id)
    return pagination.by_id(connection, mine, tracking_log.c.id, paging, _of_row)


def _of_row(row: Any) -> LogEntry:
    return LogEntry(**{name: getattr(row, name) for name in LogEntry._fields})
