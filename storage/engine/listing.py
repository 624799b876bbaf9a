"""Lists that people read: sorted by a column, paged both ways, with their columns added up. Every read is bounded.

A cursor names the row at the edge of a page and the direction; the row's place in the order is looked up again.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import BigInteger, ColumnElement, Connection, Select, func, literal, select, tuple_

from storage.engine import pagination
from storage.engine.pagination import DEFAULT_LIMIT

MOST_ROWS = 20_000
ROWS = "rows"
Item = TypeVar("Item")


class Order(NamedTuple):
    """The column by which a list is sorted; None is the time at which its rows were created."""

    column: str | None = None
    is_ascending: bool = False


NEWEST_FIRST = Order()


class ListQuery(NamedTuple):
    """The requested page of a list: `limit` rows after, or before, the row that `cursor` names.

    A file of all rows needs no totals; without them it is sorted by time.
    """

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None
    order: Order = NEWEST_FIRST
    has_totals: bool = True


class Columns(NamedTuple):
    """A list's id, and by name the columns that it can be sorted by and those that are added up. None is null."""

    id: ColumnElement[int]
    sorts: Mapping[str, ColumnElement[Any]] = {}
    sums: Mapping[str, ColumnElement[Any]] = {}


class Listed(NamedTuple, Generic[Item]):
    """A page of a list, the cursors of its neighbours (None: there is none), and the order that it has.

    `totals` has the sums and the number of all rows that match; None if these are more than 20,000: then the list is
    sorted by time only.
    """

    data: list[Item]
    next_cursor: str | None = None
    previous_cursor: str | None = None
    order: Order = NEWEST_FIRST
    totals: dict[str, int] | None = None


class Edge(NamedTuple):
    """What a cursor names: a row, and whether the page ends before it."""

    values: list[Any]
    is_end: bool


def read(
    connection: Connection,
    matching: Select[Any],
    rows: Select[Any],
    columns: Columns,
    query: ListQuery,
    *,
    of_row: Callable[[Any], Item],
) -> Listed[Item]:
    """Return a page of the rows that are in `matching` (from one table, to be quick), with the totals of all.

    `rows` reads those of the page. Raises ValidationError for an invalid cursor.
    """
    totals = _totals(connection, matching, columns) if query.has_totals else None
    is_sorted = totals is not None and query.order.column in columns.sorts
    order = query.order if is_sorted or query.order.column is None else NEWEST_FIRST
    place = place_of(query.cursor, int)
    ids = connection.execute(_page(matching, columns, query.limit, order, place)).scalars().all()
    found = {row.id: row for row in connection.execute(rows.where(columns.id.in_(ids)))}
    page = cut(ids, query.limit, place, lambda row_id: [row_id])
    data = [of_row(found[row_id]) for row_id in page.data if row_id in found]
    return Listed(data, page.next_cursor, page.previous_cursor, order, totals)


def place_of(cursor: str | None, *kinds: type) -> Edge | None:
    """Return the place that a cursor names by values of these types. Raises ValidationError for an invalid one."""
    if cursor is None:
        return None
    is_end, *values = pagination.decode(cursor, int, *kinds)
    return Edge(values, is_end == 1)


def cut(rows: Any, limit: int, place: Edge | None, key: Callable[[Any], list[Any]]) -> Listed[Any]:
    """Return the first `limit` rows after the place, or the last ones before it, as a page with both cursors.

    Rows before a place come nearest first; `key` returns the values by which a cursor names a row.
    """
    is_end, more = place is not None and place.is_end, len(rows) > limit
    shown = list(rows[:limit])[:: -1 if is_end else 1]
    has_next, has_previous = (bool(shown), more) if is_end else (more, place is not None and bool(shown))
    after = pagination.encode([0, *key(shown[-1])]) if has_next else None
    before = pagination.encode([1, *key(shown[0])]) if has_previous else None
    return Listed(shown, after, before)


def _totals(connection: Connection, matching: Select[Any], columns: Columns) -> dict[str, int] | None:
    summed = [column.label(name) for name, column in columns.sums.items()]
    each = matching.with_only_columns(columns.id.label("id"), *summed, maintain_column_froms=True)
    some = each.limit(MOST_ROWS + 1).subquery("some")
    sums = [func.coalesce(func.sum(some.c[name]), 0).label(name) for name in columns.sums]
    row = connection.execute(select(func.count().label(ROWS), *sums).select_from(some)).one()
    return {name: int(total) for name, total in row._mapping.items()} if row.rows <= MOST_ROWS else None  # noqa: SLF001


def _page(matching: Select[Any], columns: Columns, limit: int, order: Order, place: Edge | None) -> Select[Any]:
    """Return the ids of a page and of one row more, from the place on."""
    key = columns.sorts[order.column] if order.column is not None else columns.id
    ids = matching.with_only_columns(columns.id, maintain_column_froms=True)
    is_ascending = order.is_ascending
    if place is not None:
        is_ascending = is_ascending != place.is_end
        row_id: ColumnElement[int] = literal(place.values[0], BigInteger)
        same = matching.with_only_columns(key, maintain_column_froms=True).where(columns.id == row_id).correlate(None)
        here = tuple_(key, columns.id)
        there = tuple_(same.scalar_subquery(), row_id)
        if order.column is None:
            ids = ids.where(columns.id > row_id if is_ascending else columns.id < row_id)
        else:
            ids = ids.where(here > there if is_ascending else here < there)
    ordered = [column.asc() if is_ascending else column.desc() for column in dict.fromkeys((key, columns.id))]
    return ids.order_by(*ordered).limit(limit + 1)
