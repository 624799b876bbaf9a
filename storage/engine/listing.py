"""Lists that people read: sorted by a column, paged both ways, with their columns added up. Every read is bounded.

A cursor names the row at the edge of a page and the direction; the row's place in the order is looked up again.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, FromClause, Select, func, literal, select, tuple_

from storage.engine import pagination
from storage.engine.pagination import DEFAULT_LIMIT

MOST_ROWS = 20_000
ROWS, AMOUNT, CURRENCY = "rows", "amount", "currency"
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
    """A list's id, and by name the columns that it can be sorted by and those that are added up. None is null.

    `amount` is in minor units of the column `currency` (null: it is not added up), so it has a sum for each currency.
    A sort needs no index: it orders at most 20,000 rows, or the list is sorted by time.
    """

    id: ColumnElement[Any]
    sorts: Mapping[str, ColumnElement[Any]] = {}
    sums: Mapping[str, ColumnElement[Any]] = {}
    amount: ColumnElement[Any] | None = None
    currency: ColumnElement[Any] | None = None


class Listed(NamedTuple, Generic[Item]):
    """A page of a list, the cursors of its neighbours (None: there is none), and the order that it has.

    `totals` has the sums and the number of all rows that match, `amounts` their sum in each currency; None if these
    are more than 20,000: then the list is sorted by time only.
    """

    data: list[Item]
    next_cursor: str | None = None
    previous_cursor: str | None = None
    order: Order = NEWEST_FIRST
    totals: dict[str, int] | None = None
    amounts: Mapping[str, int] = {}


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
    page = read_ids(connection, matching, columns, query, added_up(connection, matching, columns, query))
    found = {row.id: row for row in connection.execute(rows.where(columns.id.in_(page.data)))}
    return page._replace(data=[of_row(found[row_id]) for row_id in page.data if row_id in found])


def added_up(connection: Connection, matching: Select[Any], columns: Columns, query: ListQuery) -> Listed[Any]:
    """Return a list without its rows: the totals of all that match, and the order that it can have."""
    named = {**columns.sums, AMOUNT: columns.amount, CURRENCY: columns.currency}
    each = [column.label(name) for name, column in named.items() if column is not None]
    first = matching.with_only_columns(columns.id.label("id"), *each, maintain_column_froms=True)
    some = first.limit(MOST_ROWS + 1).subquery("some")
    totals = _totals(connection, some, columns) if query.has_totals else None
    is_sorted = totals is not None and query.order.column in columns.sorts
    order = query.order if is_sorted or query.order.column is None else NEWEST_FIRST
    amounts = _amounts(connection, some) if totals is not None and columns.amount is not None else {}
    return Listed([], order=order, totals=totals, amounts=amounts)


def read_ids(
    connection: Connection, matching: Select[Any], columns: Columns, query: ListQuery, added: Listed[Any]
) -> Listed[Any]:
    """Return the ids of a page in the order that `added_up` returned, with its totals."""
    place = place_of(query.cursor, columns.id.type.python_type)
    ids = connection.execute(_page(matching, columns, query.limit, added.order, place)).scalars().all()
    page = cut(ids, query.limit, place, lambda row_id: [row_id])
    return added._replace(data=page.data, next_cursor=page.next_cursor, previous_cursor=page.previous_cursor)


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


def _totals(connection: Connection, some: FromClause, columns: Columns) -> dict[str, int] | None:
    sums = [func.coalesce(func.sum(some.c[name]), 0).label(name) for name in columns.sums]
    row = connection.execute(select(func.count().label(ROWS), *sums).select_from(some)).one()
    return {name: int(total) for name, total in row._mapping.items()} if row.rows <= MOST_ROWS else None  # noqa: SLF001


def _amounts(connection: Connection, some: FromClause) -> dict[str, int]:
    amount, currency = some.c[AMOUNT], some.c[CURRENCY]
    sums = select(currency, func.sum(amount)).where(currency.is_not(None), amount.is_not(None))
    return {name: int(total) for name, total in connection.execute(sums.group_by(currency).order_by(currency))}


def _page(matching: Select[Any], columns: Columns, limit: int, order: Order, place: Edge | None) -> Select[Any]:
    """Return the ids of a page and of one row more, from the place on."""
    key = columns.sorts[order.column] if order.column is not None else columns.id
    ids = matching.with_only_columns(columns.id, maintain_column_froms=True)
    is_ascending = order.is_ascending
    if place is not None:
        is_ascending = is_ascending != place.is_end
        row_id: ColumnElement[Any] = literal(place.values[0], columns.id.type)
        same = matching.with_only_columns(key, maintain_column_froms=True).where(columns.id == row_id).correlate(None)
        here = tuple_(key, columns.id)
        there = tuple_(same.scalar_subquery(), row_id)
        if order.column is None:
            ids = ids.where(columns.id > row_id if is_ascending else columns.id < row_id)
        else:
            ids = ids.where(here > there if is_ascending else here < there)
    ordered = [column.asc() if is_ascending else column.desc() for column in dict.fromkeys((key, columns.id))]
    return ids.order_by(*ordered).limit(limit + 1)
