"""Lists as CSV files (RFC 4180), read page by page; a spreadsheet runs no cell as a formula."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

from starlette.responses import Response, StreamingResponse

from storage.engine.listing import Listed, ListQuery
from storage.engine.pagination import MOST

# What starts a formula, after any space (also a no-break, ideographic or zero-width one): at the start of a cell, and
# after a semicolon, at which a spreadsheet of many countries splits the line.
_SPACE = r"[\s\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]*"
_FORMULA = re.compile(rf"(^|;)({_SPACE})(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_QUOTED = re.compile(r"[\",;\s]")


Item = TypeVar("Item")
Read = Callable[[ListQuery], Awaitable[Listed[Item]]]


def file(name: str, read: Read[Item], header: Sequence[str], cells: Callable[[Item], Iterable[object]]) -> Response:
    """Return a list as a CSV file, newest first; `cells` returns the values of a row, which are guarded here."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    rows = _rows(read, header, cells)
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=headers)


async def _rows(
    read: Read[Item], header: Sequence[str], cells: Callable[[Item], Iterable[object]]
) -> AsyncIterator[str]:
    """Yield the file, a page of rows at a time."""
    yield lines([header])
    cursor: str | None = None
    while True:
        page = await read(ListQuery(MOST, cursor, has_totals=False))
        yield lines([_written(cell) for cell in cells(row)] for row in page.data)
        cursor = page.next_cursor
        if cursor is None:
            return


def _written(cell: object) -> str:
    """Return a value as a cell: numbers and timestamps as machines read them, guarded texts, and nothing for None."""
    if isinstance(cell, datetime):
        return cell.isoformat()
    return str(cell) if isinstance(cell, int | Decimal | StrEnum) else guarded(None if cell is None else str(cell))


def guarded(cell: str | None) -> str:
    """Return a text that a spreadsheet does not run as a formula: an apostrophe precedes what would start one."""
    return _FORMULA.sub(r"\1'\2", cell or "")


def lines(cells: Iterable[Iterable[str]]) -> str:
    """Return rows as lines of the file."""
    return "".join(",".join(map(_quoted, row)) + "\r\n" for row in cells)


def _quoted(cell: str) -> str:
    """Return a cell as RFC 4180 has it; one with a semicolon is quoted, too."""
    return '"{}"'.format(cell.replace('"', '""')) if _QUOTED.search(cell) else cell
