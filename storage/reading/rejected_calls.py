"""Refused calls, as an owner reads them: one by one, and grouped by what was wrong."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select

from storage.engine import pagination
from storage.engine.pagination import FIRST_PAGE, Page, Paging
from storage.tables import refused_calls


class LoggedRejection(NamedTuple):
    """One keyed call that was refused; `fields` names the fields at fault."""

    id: int
    at: datetime
    call: str
    code: str
    message: str
    fields: tuple[str, ...]
    customer_key: str | None
    click_id: str | None
    transaction_id: str | None
    request_id: str | None


class Cause(NamedTuple):
    """All kept refusals of one code."""

    code: str
    calls: int
    first_at: datetime
    last_at: datetime


def list_calls(
    connection: Connection, program_id: int, paging: Paging = FIRST_PAGE, *, code: str | None = None
) -> Page[LoggedRejection]:
    """Return a page of a program's refused calls, newest first; of one code if it is named."""
    mine = select(refused_calls).where(refused_calls.c.program_id == program_id)
    if code is not None:
        mine = mine.where(refused_calls.c.code == code)
    return pagination.by_id(connection, mine, refused_calls.c.id, paging, of_row)


def by_cause(connection: Connection, program_id: int) -> list[Cause]:
    """Return the codes that a program's calls were refused with in the 30 days kept, most frequent first."""
    call, count = refused_calls.c, func.count()
    grouped = (
        select(call.code, count, func.min(call.at), func.max(call.at))
        .where(call.program_id == program_id)
        .group_by(call.code)
        .order_by(count.desc(), call.code)
    )
    return [Cause(*row) for row in connection.execute(grouped)]


def grouped(
    connection: Connection, program_id: int, paging: Paging, *, code: str | None = None
) -> list[tuple[Cause, Page[LoggedRejection]]]:
    """Return every cause (or the named one) with a page of its calls."""
    causes = [cause for cause in by_cause(connection, program_id) if code in {None, cause.code}]
    return [(cause, list_calls(connection, program_id, paging, code=cause.code)) for cause in causes]


def of_row(row: Any) -> LoggedRejection:
    """Read a refused call from a row of its table."""
    values = {name: getattr(row, name) for name in LoggedRejection._fields}
    return LoggedRejection(**values | {"fields": tuple(row.fields.split(", ")) if row.fields else ()})
