"""Cursors: a page's edge as opaque text, so that the next page neither skips nor repeats a row; and spans of ids."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement

from storage.engine import ids
from storage.rules.errors import ValidationError
from storage.rules.periods.period import Span

LARGEST_ID = 2**62
LONGEST_TEXT = 64
EPOCH, END = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


class Edge(NamedTuple):
    values: list[Any]  # which name a row
    is_end: bool  # whether the page ends before it


def within(id_column: ColumnElement[int], at: ColumnElement[datetime], span: Span) -> list[ColumnElement[bool]]:
    """Return the conditions for rows of a span; their time-ordered id finds the first: it is never below their time."""
    conditions: list[ColumnElement[bool]] = []
    if span.since is not None:
        conditions += [id_column >= ids.first(span.since), at >= span.since]
    if span.until is not None:
        conditions.append(at < span.until)
    return conditions


def in_span(program_id: int, span: Span) -> dict[str, Any]:
    """Return what a statement that reads a program's rows of a span takes."""
    since, until = span.since or EPOCH, span.until or END
    return {"program_id": program_id, "since_id": ids.first(since), "since": since, "until": until}


def edge_of(cursor: str | None, *kinds: type) -> Edge | None:
    """Return what a cursor names, by values of these types. Raises ValidationError for an invalid one."""
    if cursor is None:
        return None
    try:
        values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        values = None
    known = isinstance(values, list) and [type(value) for value in values] == [int, *kinds]
    if not known or not all(
        abs(each) <= LARGEST_ID
        if isinstance(each, int)
        else each.isascii() and each.isprintable() and len(each) <= LONGEST_TEXT
        for each in values
    ):
        raise ValidationError.of("cursor", "Not a cursor of this list: start again without one")
    return Edge(values[1:], values[0] == 1)


def cut(
    rows: Any,  # those before an edge come nearest first
    limit: int,
    edge: Edge | None,
    page: Any,
    *,
    key: Callable[[Any], Sequence[Any]] = lambda row_id: [row_id],  # by which a cursor names a row
) -> Any:
    """Return a page with the first `limit` rows after the edge, or the last ones before it, and with both cursors."""
    is_end, more = edge is not None and edge.is_end, len(rows) > limit
    shown = list(rows[:limit])[:: -1 if is_end else 1]
    has_next, has_previous = (bool(shown), more) if is_end else (more, edge is not None and bool(shown))
    following = encode([0, *key(shown[-1])]) if has_next else None
    previous = encode([1, *key(shown[0])]) if has_previous else None
    return page._replace(data=shown, next_cursor=following, previous_cursor=previous)


def encode(values: list[Any]) -> str:
    """Return the cursor that names these values."""
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")
