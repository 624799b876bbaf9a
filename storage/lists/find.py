"""Reads a list: filtered, searched, sorted, added up, and paged both ways. Every read is bounded."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from enum import StrEnum
from typing import Any, NamedTuple, cast

from sqlalchemy import ColumnElement, Connection, Select, func, literal, select, tuple_

from storage.engine import cursors
from storage.lists.declaration import MOST_ROWS, NEWEST_FIRST, List, ListQuery, ListScope, Page, Row
from storage.rules.errors import NotFound

ROWS, AMOUNT, CURRENCY = "rows", "amount_cents", "currency"
EARNED_UNTIL = "earned_until"


class Candidates(NamedTuple):
    """The rows of which a page is chosen: the statements of their ids and of all ids that a cursor may name."""

    ids: Select[Any]
    row_id: Any
    sums: Mapping[str, Any]  # what is added up of them
    keys: Mapping[str, ColumnElement[Any]]  # what they can be sorted by
    every: Select[Any]


def find(connection: Connection, wanted: List[Row], scope: ListScope, query: ListQuery) -> Page[Row]:
    """Return a page of what the scope may read and the query asks for. Raises ValidationError for a wrong cursor."""
    if wanted.reader is not None:
        _of_partner(wanted, scope)
        return wanted.reader(connection, scope, query)
    scope = scope._replace(until=query.filters.get(EARNED_UNTIL) or scope.until)
    skipped = wanted.skips(connection, scope) if wanted.skips and query.is_added_up else frozenset()
    sums = {name: each.sql for name, each in wanted.sums.items() if name not in skipped}
    if AMOUNT in sums:
        sums[CURRENCY] = next(each.sql for each in wanted.fields if each.name == CURRENCY)
    keys = {name: each.sort_key for name, each in wanted.sorts.items() if name not in skipped}
    ids, every = (matching(wanted, scope, each) for each in (query, ListQuery()))
    some = Candidates(ids, wanted.table.c.id, sums, keys, every)
    page = read_ids(connection, some, query, totals(connection, some, query))
    return page._replace(data=rows(connection, wanted, scope, page.data))


def get(connection: Connection, wanted: List[Row], scope: ListScope, row_id: int) -> Row:
    """Return the row of a list that has this id. Raises NotFound."""
    found = rows(connection, wanted, scope, [row_id])
    if not found:
        raise NotFound(f"The program has no such {wanted.one}.")
    return found[0]


def list_ids(connection: Connection, wanted: List[Any], scope: ListScope, query: ListQuery, *, limit: int) -> list[int]:
    """Return the ids of the rows that match, the oldest ones up to the limit."""
    oldest = matching(wanted, scope, query).order_by(wanted.table.c.id)
    return list(connection.execute(oldest.limit(limit)).scalars())


def rows(connection: Connection, wanted: List[Row], scope: ListScope, ids: list[Any]) -> list[Row]:
    """Return the rows with these ids, in their order."""
    if not ids:
        return []
    row_id = wanted.table.c.id
    fields = [each for each in wanted.fields if each.sql is not None]
    statement = _select(wanted, scope, row_id.label("row_id"), *(each.sql.label(each.name) for each in fields))
    found = {
        row["row_id"]: wanted.row(**{each.name: _value(each.kind, row[each.name]) for each in fields})
        for row in connection.execute(statement.where(row_id.in_(ids))).mappings()
    }
    shown = [found[each] for each in ids if each in found]
    finished = wanted.finish(connection, scope, shown) if wanted.finish else shown
    return finished if scope.partner_id is None else _without_others(wanted, finished)


def _of_partner(wanted: List[Any], scope: ListScope) -> list[ColumnElement[bool]]:
    """Return the conditions of what a partner may read. Raises NotFound for a list that is not for partners."""
    if scope.partner_id is None:
        return []
    if wanted.theirs is None:
        raise NotFound
    return [wanted.theirs.column == scope.partner_id]


def _without_others(wanted: List[Row], rows: list[Row]) -> list[Row]:
    theirs = wanted.theirs.fields.split() if wanted.theirs else []
    hidden = {each.name: None for each in wanted.fields if each.name not in theirs}
    return [cast("Any", row)._replace(**hidden) for row in rows]


def matching(wanted: List[Any], scope: ListScope, query: ListQuery) -> Select[Any]:
    """Return the statement of the ids that match."""
    row_id = wanted.table.c.id
    conditions = {each.name: each.where for each in wanted.filters if each.where}
    narrow = [conditions[name](value) for name, value in query.filters.items() if value is not None]
    if wanted.at is not None:
        narrow += cursors.within(row_id, wanted.at, query.span)
    if query.search is not None and wanted.search is not None:
        narrow.append(wanted.search(scope, query.search))
    return _select(wanted, scope, row_id).where(*narrow)


def _select(wanted: List[Any], scope: ListScope, *columns: Any) -> Select[Any]:
    """Return the statement of what the scope may read; without a window its figures are of the day."""
    source = wanted.table if wanted.source is None else wanted.source
    mine = wanted.mine(scope) if wanted.mine else wanted.table.c.program_id == scope.program_id
    narrow = [mine, *([] if wanted.only is None else [wanted.only]), *_of_partner(wanted, scope)]
    statement = select(*columns).select_from(source).where(*narrow)
    first, last = scope.window or (scope.at.date(), scope.at.date())
    figures = {"program_id": scope.program_id, "now": scope.at, "until": scope.until}
    figures |= {"first_day": first, "last_day": last}
    return statement.params(**figures)


def totals(connection: Connection, some: Candidates, query: ListQuery) -> Page[Any]:
    """Return a page without rows: the order that it can have, and its totals, of at most 20,000 rows."""
    if not query.is_added_up:
        return Page([], order=query.order)
    sums = some.sums
    each = [column.label(name) for name, column in sums.items()]
    first = some.ids.with_only_columns(some.row_id.label("id"), *each, maintain_column_froms=True)
    rows = first.limit(MOST_ROWS + 1).subquery("some")
    plain = [name for name in sums if CURRENCY not in sums or name not in {AMOUNT, CURRENCY}]
    added = [func.coalesce(func.sum(rows.c[name]), 0).label(name) for name in plain]
    total = connection.execute(select(func.count().label(ROWS), *added).select_from(rows)).mappings().one()
    is_short, amounts = total[ROWS] <= MOST_ROWS, {}
    if is_short and CURRENCY in sums:
        amount, currency = rows.c[AMOUNT], rows.c[CURRENCY]
        by_currency = select(currency, func.sum(amount)).where(currency.is_not(None), amount.is_not(None))
        summed = connection.execute(by_currency.group_by(currency).order_by(currency))
        amounts = {name: int(cents) for name, cents in summed}
    is_possible = query.order.column is None or (is_short and query.order.column in some.keys)
    numbers = {name: int(value) for name, value in total.items()} if is_short and query.has_totals else None
    return Page([], order=query.order if is_possible else NEWEST_FIRST, totals=numbers, amounts=amounts)


def read_ids(connection: Connection, some: Candidates, query: ListQuery, summed: Page[Any]) -> Page[Any]:
    """Return a page's ids in the order that `summed` has; a cursor names a row of `every`, which may match no more."""
    ids, row_id, order = some.ids, some.row_id, summed.order
    edge = cursors.edge_of(query.cursor, row_id.type.python_type)
    key = row_id if order.column is None else some.keys[order.column]
    is_ascending = order.is_ascending != (edge is not None and edge.is_end)
    if edge is not None:  # whose place in the order is looked up again
        named: ColumnElement[Any] = literal(edge.values[0], row_id.type)
        same = some.every.with_only_columns(key, maintain_column_froms=True).where(row_id == named).correlate(None)
        here: Any = row_id if order.column is None else tuple_(key, row_id)
        there: Any = named if order.column is None else tuple_(same.scalar_subquery(), named)
        ids = ids.where(here > there if is_ascending else here < there)
    ordered = [column.asc() if is_ascending else column.desc() for column in dict.fromkeys((key, row_id))]
    found = connection.execute(ids.order_by(*ordered).limit(query.limit + 1)).scalars().all()
    return cursors.cut(found, query.limit, edge, summed)


def _value(kind: type, value: Any) -> Any:
    """Return a stored value as the field's type; sums arrive as decimals from PostgreSQL."""
    if kind is tuple:
        return tuple(value.split(", ")) if value else ()
    if value is None:
        return None
    if kind in {dict, object}:
        return json.loads(value)
    if kind is date:
        return value.date() if isinstance(value, datetime) else value
    return kind(value) if kind in {int, bool} or issubclass(kind, StrEnum) else value
