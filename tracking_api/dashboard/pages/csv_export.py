"""Lists as CSV files (RFC 4180), read page by page; a spreadsheet runs no cell as a formula."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from starlette.responses import Response, StreamingResponse

from storage.lists.declaration import MOST, NEWEST_FIRST, Field, List, ListQuery, Page
from tracking_api.dashboard.pages import text

# What starts a formula, after any space (also a no-break, ideographic or zero-width one): at the start of a cell, and
# after a semicolon, at which a spreadsheet of many countries splits the line.
_SPACE = r"[\s\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0]*"
_FORMULA = re.compile(rf"(^|;)({_SPACE})(?=[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20])")
_QUOTED = re.compile(r"[\",;\s]")
Read = Callable[[ListQuery], Awaitable[Page[Any]]]


def file(name: str, wanted: List[Any], query: ListQuery, read: Read, *, currency: str) -> Response:
    """Return what a query finds as a CSV file, newest first, with fields as columns; amounts are in major units."""
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    fields = [each for each in wanted.fields if not each.column.is_internal and not hasattr(each.kind, "_fields")]
    rows = _rows(fields, query._replace(limit=MOST, order=NEWEST_FIRST, has_totals=False), read, currency)
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=headers)


async def _rows(fields: list[Field], query: ListQuery, read: Read, currency: str) -> AsyncIterator[str]:
    """Yield the file, a page of rows at a time."""
    own = any(each.name == "currency" for each in fields)
    last = [] if own or not any(each.is_money for each in fields) else [currency]
    yield lines([[*(each.public_name for each in fields), *(["currency"] if last else [])]])
    cursor: str | None = None
    while True:
        page = await read(query._replace(cursor=cursor))
        yield lines([*(_written(row, each, currency) for each in fields), *last] for row in page.data)
        cursor = page.next_cursor
        if cursor is None:
            return


def _written(row: object, field: Field, currency: str) -> str:
    """Return a field as a cell, as machines read it: an amount in major units of the row's currency, or the program's.

    Texts are guarded, and None is nothing.
    """
    value = getattr(row, field.name)
    if value is not None and field.kind in {dict, object}:
        value = json.dumps(value)
    elif value is not None and field.is_money:
        own = currency if field.column.is_program_money else getattr(row, "currency", currency)
        value = text.major(value, own) if own else value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, int | Decimal | StrEnum):
        return str(value)
    return guarded(" ".join(map(str, value)) if isinstance(value, tuple | list) else str(value or ""))


def guarded(cell: str) -> str:
    """Return a text that a spreadsheet does not run as a formula: an apostrophe precedes what would start one."""
    return _FORMULA.sub(r"\1'\2", cell)


def lines(cells: Iterable[Iterable[str]]) -> str:
    """Return rows as lines of the file, as RFC 4180 has them; a cell with a semicolon is quoted, too."""
    quoted = (
        ['"{}"'.format(each.replace('"', '""')) if _QUOTED.search(each) else each for each in row] for row in cells
    )
    return "".join(f"{','.join(row)}\r\n" for row in quoted)
