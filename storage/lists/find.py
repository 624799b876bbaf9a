"""Reads a list: filtered, searched, sorted, added up, and paged both ways. Every read is bounded.

A cursor names the row at the edge of a page and the direction; the row's place in the order is looked up again.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, FromClause, RowMapping, Select, func, literal, select, tuple_

from storage.engine import cursors
from storage.lists.declaration import FIRST_PAGE, MOST_ROWS, NEWEST_FIRST, List, ListQuery, ListScope, Order, Page
from storage.rules.errors import NotFound

Row = TypeVar("Row")
ROWS, AMOUNT, CURRENCY = "rows", "amount_cents", "currency"


class Edge(NamedTuple):
    """What a cursor names: a row by its values, and whether the page ends before it."""

    values: list[Any]
    is_end: bool


def find(connection: Connection, wanted: List[Row], scope: ListScope, query: ListQuery) -> Page[Row]:
    """Return a page of a list, of what the scope may read and the query asks for. Raises ValidationError for a cursor.

    `limit` is bounded by the caller. Rows are newest first, unless the query names another order.
    """
    if wanted.reader is not None:
        return wanted.reader(connection, scope, query)
    chosen = matching(wanted, scope, query)
    summed = added_up(connection, wanted, chosen, scope, query)
    keys = {name: each.sort_key for name, each in wanted.sorts.items()}
    every = matching(wanted, scope, FIRST_PAGE)
    page = read_ids(connection, chosen, query, row_id=wanted.table.c.id, keys=keys, summed=summed, every=every)
    return page._replace(data=rows(connection, wanted, scope, page.data))


def get(connection: Connection, wanted: List[Row], scope: ListScope, row_id: int) -> Row:
    """Return the row of a list that has this id. Raises NotFound."""
    found = rows(connection, wanted, scope, [row_id])
    if not found:
        raise NotFound(f"The program has no such {wanted.one}.")
    return found[0]


def list_ids(connection: Connection, wanted: List[Any], scope: ListScope, query: ListQuery, *, limit: int) -> list[int]:
    """Return the ids of the rows that match, the oldest ones up to the limit."""
    chosen = matching(wanted, scope, query)
    oldest = chosen.with_only_columns(wanted.table.c.id, maintain_column_froms=True).order_by(wanted.table.c.id)
    return list(connection.execute(oldest.limit(limit)).scalars())


def rows(connection: Connection, wanted: List[Row], scope: ListScope, ids: list[Any]) -> list[Row]:
    """Return the rows with these ids, in their order."""
    if not ids:
        return []
    row_id = wanted.table.c.id
    read = [each.sql.label(each.name) for each in wanted.fields if each.sql is not None]
    statement = select(row_id.label("row_id"), *read).select_from(_source(wanted))
    mine = _with_window(statement.where(_mine(wanted, scope), row_id.in_(ids)), wanted, scope)
    found = {row["row_id"]: _of_row(wanted, row) for row in connection.execute(mine).mappings()}
    shown = [found[each] for each in ids if each in found]
    return wanted.finish(connection, scope, shown) if wanted.finish else shown


def matching(wanted: List[Any], scope: ListScope, query: ListQuery) -> Select[Any]:
    """Return the statement of the ids that match."""
    row_id, conditions = wanted.table.c.id, {each.name: each.where for each in wanted.filters if each.where}
    narrow = [conditions[name](value) for name, value in query.filters.items() if value is not None]
    if wanted.at is not None:
        narrow += cursors.within(row_id, wanted.at, query.span)
    if query.search is not None and wanted.search is not None:
        narrow.append(wanted.search(scope, query.search))
    chosen = select(row_id).select_from(_source(wanted)).where(_mine(wanted, scope), *narrow)
    return _with_window(chosen, wanted, scope)


def _source(wanted: List[Any]) -> FromClause:
    return wanted.table if wanted.source is None else wanted.source


def _mine(wanted: List[Any], scope: ListScope) -> ColumnElement[bool]:
    return wanted.mine(scope) if wanted.mine else wanted.table.c.program_id == scope.program_id


def _with_window(statement: Select[Any], wanted: List[Any], scope: ListScope) -> Select[Any]:
    """Return a statement with the program and the window of the figures; without one they are of the day."""
    if not wanted.has_window:
        return statement
    first, last = scope.window or (scope.at.date(), scope.at.date())
    return statement.params(program_id=scope.program_id, first_day=first, last_day=last)


def added_up(
    connection: Connection, wanted: List[Any], matching: Select[Any], scope: ListScope, query: ListQuery
) -> Page[Any]:
    """Return a list without its rows: the totals of all that match, and the order that it can have."""
    if not query.has_totals and query.order.column is None:
        return Page([], order=query.order)
    skipped = wanted.skips(connection, scope) if wanted.skips else frozenset()
    sums = {each.name: each.sql for each in wanted.fields if each.column.is_summed and each.name not in skipped}
    if AMOUNT in sums:
        sums[CURRENCY] = next(each.sql for each in wanted.fields if each.name == CURRENCY)
    sorts = wanted.sorts.keys() - skipped
    return totals(connection, matching, query, row_id=wanted.table.c.id, sums=sums, sorts=sorts)


def totals(
    connection: Connection,
    matching: Select[Any],
    query: ListQuery,
    *,
    row_id: Any,
    sums: dict[str, Any],
    sorts: Collection[str],
) -> Page[Any]:
    """Return the sums of at most 20,000 rows, those of `amount_cents` in each `currency`, and the possible order."""
    each = [column.label(name) for name, column in sums.items()]
    some = matching.with_only_columns(row_id.label("id"), *each, maintain_column_froms=True)
    some_rows = some.limit(MOST_ROWS + 1).subquery("some")
    by_currency = CURRENCY in sums
    added = _totals(connection, some_rows, [name for name in sums if not (by_currency and name in {AMOUNT, CURRENCY})])
    is_possible = query.order.column is None or (added is not None and query.order.column in sorts)
    amounts = _amounts(connection, some_rows) if added is not None and by_currency else {}
    order = query.order if is_possible else NEWEST_FIRST
    return Page([], order=order, totals=added if query.has_totals else None, amounts=amounts)


def _totals(connection: Connection, some: FromClause, names: list[str]) -> dict[str, int] | None:
    sums = [func.coalesce(func.sum(some.c[name]), 0).label(name) for name in names]
    row = connection.execute(select(func.count().label(ROWS), *sums).select_from(some)).one()
    return {name: int(total) for name, total in row._mapping.items()} if row.rows <= MOST_ROWS else None  # noqa: SLF001


def _amounts(connection: Connection, some: FromClause) -> dict[str, int]:
    amount, currency = some.c[AMOUNT], some.c[CURRENCY]
    sums = select(currency, func.sum(amount)).where(currency.is_not(None), amount.is_not(None))
    return {name: int(total) for name, total in connection.execute(sums.group_by(currency).order_by(currency))}


def read_ids(
    connection: Connection,
    matching: Select[Any],
    query: ListQuery,
    *,
    row_id: Any,
    keys: Mapping[str, ColumnElement[Any]],
    summed: Page[Any],
    every: Select[Any],
) -> Page[Any]:
    """Return the ids of a page in the order that `summed` has, with its totals."""
    edge = edge_of(query.cursor, row_id.type.python_type)
    key = row_id if summed.order.column is None else keys[summed.order.column]
    ids = connection.execute(_page((matching, every), (row_id, key), query.limit, summed.order, edge)).scalars().all()
    return cut(ids, query.limit, edge, summed)


def edge_of(cursor: str | None, *kinds: type) -> Edge | None:
    """Return what a cursor names, by values of these types. Raises ValidationError for an invalid one."""
    if cursor is None:
        return None
    is_end, *values = cursors.decode(cursor, int, *kinds)
    return Edge(values, is_end == 1)


def cut(
    rows: Any,
    limit: int,
    edge: Edge | None,
    summed: Page[Any],
    *,
    key: Callable[[Any], Sequence[Any]] = lambda row_id: [row_id],
) -> Page[Any]:
    """Return the first `limit` rows after the edge, or the last ones before it, as a page with both cursors.

    Rows before an edge come nearest first; `key` returns the values by which a cursor names a row.
    """
    is_end, more = edge is not None and edge.is_end, len(rows) > limit
    shown = list(rows[:limit])[:: -1 if is_end else 1]
    has_next, has_previous = (bool(shown), more) if is_end else (more, edge is not None and bool(shown))
    following = cursors.encode([0, *key(shown[-1])]) if has_next else None
    previous = cursors.encode([1, *key(shown[0])]) if has_previous else None
    return summed._replace(data=shown, next_cursor=following, previous_cursor=previous)


def _page(
    rows: tuple[Select[Any], Select[Any]], by: tuple[Any, Any], limit: int, order: Order, edge: Edge | None
) -> Select[Any]:
    """Return the ids of a page and of one row more, from the edge on.

    `rows` are those that match, and every one of the list: the row that a cursor names may match no more. `by` are the
    id and what comes before it.
    """
    (matching, every), (row_id, key) = rows, by
    ids = matching.with_only_columns(row_id, maintain_column_froms=True)
    is_ascending = order.is_ascending
    if edge is not None:
        is_ascending = is_ascending != edge.is_end
        named: ColumnElement[Any] = literal(edge.values[0], row_id.type)
        same = every.with_only_columns(key, maintain_column_froms=True).where(row_id == named).correlate(None)
        here: Any = row_id if order.column is None else tuple_(key, row_id)
        there: Any = named if order.column is None else tuple_(same.scalar_subquery(), named)
        ids = ids.where(here > there if is_ascending else here < there)
    ordered = [column.asc() if is_ascending else column.desc() for column in dict.fromkeys((key, row_id))]
    return ids.order_by(*ordered).limit(limit + 1)


def _of_row(wanted: List[Row], row: RowMapping) -> Row:
    """Return a row of the list from one of the database."""
    return wanted.row(
        **{each.name: _value(each.kind, row[each.name]) for each in wanted.fields if each.sql is not None}
    )


def _value(kind: Any, value: Any) -> Any:
    """Return a stored value as the field's type; sums arrive as decimals from PostgreSQL."""
    if kind is tuple:
        read: Any = tuple(value.split(", ")) if value else ()
    elif value is None:
        read = None
    elif kind is dict or kind is object:
        read = json.loads(value)
    else:
        read = (
            kind(value)
            if kind is int or kind is bool or (isinstance(kind, type) and issubclass(kind, StrEnum))
            else value
        )
    return read
