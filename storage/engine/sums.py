"""The sums of rows by several keys from one read."""

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Select, Subquery, func, select, tuple_

from storage.engine.database import groups_by_many

ROWS_AT_ONCE = 10_000


def evaluated_once(connection: Connection, rows: Select[Any]) -> Subquery:
    """Return rows to select from, whose columns are computed once for each, however often a statement uses them.

    SQLite keeps nothing parsed, and is faster where it reads through to the table.
    """
    return (rows.offset(0) if groups_by_many(connection) else rows).subquery()


def sums_by_each(
    connection: Connection, rows: Select[Any], keys: Sequence[Sequence[str]], amounts: Sequence[str], *, most: int
) -> Iterator[tuple[int, tuple[Any, ...], Sequence[Any]]]:
    """Yield the sums of a statement's amounts for each value of each key, with the key's place: one read serves all.

    Of each key it yields `most` values or more, if there are as many. PostgreSQL groups by all keys at once; SQLite
    would sort all rows for each key, so they are added up as they come.
    """
    if groups_by_many(connection):
        yield from _grouped_by_each(connection, rows, keys, amounts, most * len(keys))
        return
    names = [column.name for column in rows.selected_columns]
    picks = [itemgetter(*map(names.index, (*key, *amounts))) for key in keys]
    counted = [Counter[Any]() for _ in keys]
    for some in connection.execute(rows).partitions(ROWS_AT_ONCE):
        for pick, counts in zip(picks, counted, strict=True):
            counts.update(map(pick, some))
    for place, (key, counts) in enumerate(zip(keys, counted, strict=True)):
        for picked, count in counts.items():
            yield place, picked[: len(key)], [count * amount for amount in picked[len(key) :]]


def _grouped_by_each(
    connection: Connection, rows: Select[Any], keys: Sequence[Sequence[str]], amounts: Sequence[str], most: int
) -> Iterator[tuple[int, tuple[Any, ...], Sequence[Any]]]:
    inner = rows.subquery()
    names = list(dict.fromkeys(name for key in keys for name in key))
    columns, sums = [inner.c[name] for name in names], [func.sum(inner.c[name]) for name in amounts]
    sets = func.grouping_sets(*(tuple_(*(inner.c[name] for name in key)) for key in keys))
    places = {
        sum(1 << bit for bit, name in enumerate(reversed(names)) if name not in key): n for n, key in enumerate(keys)
    }
    for missing, *row in connection.execute(
        select(func.grouping(*columns), *columns, *sums).group_by(sets).limit(most)
    ):
        place = places[missing]
        yield place, tuple(row[names.index(name)] for name in keys[place]), row[len(names) :]
