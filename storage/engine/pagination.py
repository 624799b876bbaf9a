"""Pages of lists: a cursor names the last row of the page before, so that no row is skipped or repeated."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import BigInteger, ColumnElement, Connection, Select, literal

from storage.engine import ids
from storage.rules.errors import FieldError, ValidationError
from storage.rules.periods.period import Span

DEFAULT_LIMIT = 50
MOST = 200
LARGEST_ID = 2**62
LONGEST_TEXT = 64
Item = TypeVar("Item")


class Paging(NamedTuple):
    """The requested page: `limit` rows (1..200) after the row that `cursor` names (None: from the start)."""

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None


class Page(NamedTuple, Generic[Item]):
    """One page; `next_cursor` is None on the last one."""

    data: list[Item]
    next_cursor: str | None


FIRST_PAGE = Paging()


def parse(limit: str | None, cursor: str | None) -> Paging:
    """Return the paging of a query string. Raises ValidationError for a limit outside 1..200."""
    if limit is None:
        rows = DEFAULT_LIMIT
    elif limit.isascii() and limit.isdigit() and len(limit) <= len(str(MOST)) and 1 <= int(limit) <= MOST:
        rows = int(limit)
    else:
        raise ValidationError(fields=[FieldError("limit", f"An integer from 1 to {MOST}")])
    return Paging(rows, cursor or None)


def by_id(
    connection: Connection,
    rows: Select[Any],
    id_column: ColumnElement[int],
    paging: Paging,
    of_row: Callable[[Any], Item],
) -> Page[Item]:
    """Return a page of rows, newest id first. Raises ValidationError for an invalid cursor."""
    if paging.cursor is not None:
        rows = rows.where(id_column < literal(last_id(paging.cursor), BigInteger))
    fetched = connection.execute(rows.order_by(id_column.desc()).limit(paging.limit + 1)).all()
    return cut(fetched, paging.limit, key=lambda row: [row.id], of_row=of_row)


def within(id_column: ColumnElement[int], at: ColumnElement[datetime], span: Span) -> list[ColumnElement[bool]]:
    """Return the conditions for rows of a span; their time-ordered id finds the first: it is never below their time."""
    conditions: list[ColumnElement[bool]] = []
    if span.since is not None:
        conditions += [id_column >= ids.first(span.since), at >= span.since]
    if span.until is not None:
        conditions.append(at < span.until)
    return conditions


def cut(
    rows: Sequence[Any], limit: int, *, key: Callable[[Any], list[Any]], of_row: Callable[[Any], Item]
) -> Page[Item]:
    """Return the first `limit` of the rows as a page; `key` returns the values that the cursor names."""
    more = len(rows) > limit
    shown = rows[:limit]
    return Page([of_row(row) for row in shown], encode(key(shown[-1])) if more else None)


def last_id(cursor: str) -> int:
    """Return the id that a cursor names. Raises ValidationError for an invalid cursor."""
    (row_id,) = decode(cursor, int)
    return row_id


def decode(cursor: str, *kinds: type) -> list[Any]:
    """Return the values that a cursor names, as these types. Raises ValidationError for an invalid cursor."""
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        values = None
    known = isinstance(values, list) and [type(value) for value in values] == list(kinds)
    if not known or not all(_storable(value) for value in values):
        raise ValidationError(fields=[FieldError("cursor", "Not a cursor of this list: start again without one")])
    return values


def _storable(value: int | str) -> bool:
    if isinstance(value, int):
        return abs(value) <= LARGEST_ID
    return value.isascii() and value.isprintable() and len(value) <= LONGEST_TEXT


def encode(values: list[Any]) -> str:
    """Return the cursor that names the row with these values, so that the next page starts after it."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
