"""The sums of rows by several keys from one read."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Select, func, select, tuple_

from storage.engine.database import is_server
from storage.engine.expressions import JsonField

ROWS_AT_ONCE = 10_000
CARRIED = "carried"


def sums_by_each(
    connection: Connection, rows: Select[Any], keys: Sequence[Sequence[str]], amounts: Sequence[str], *, most: int
) -> Iterator[tuple[int, tuple[Any, ...], Sequence[Any]]]:
    """Yield the sums of a statement's amounts for each value of each key, with the key's place: one read serves all.

    A name that is no column of the rows is a field of the JSON object that they have as CARRIED. Of each key it yields
    `most` values or more, if there are as many. PostgreSQL groups by all keys at once; SQLite would sort all rows for
    each key, so they are added up as they come.
    """
    if is_server(connection):
        yield from _grouped_by_each(connection, rows, keys, amounts, most * len(keys))
    else:
        yield from _added_up(connection, rows, keys, amounts)


def _added_up(
    connection: Connection, rows: Select[Any], keys: Sequence[Sequence[str]], amounts: Sequence[str]
) -> Iterator[tuple[int, tuple[Any, ...], Sequence[Any]]]:
    """Yield the same from the rows as they come; JSON is parsed once for rows that have it alike."""
    inner = rows.subquery().c
    fields = list(dict.fromkeys(name for key in keys for name in key if name not in inner))
    paths = [f"$.{name}" for name in (*fields, *fields)]  # of one path it would be the value, not a list
    carried = [func.json_extract(inner[CARRIED], *paths).label(CARRIED)] if fields else []
    names = [name for name in inner.keys() if name != CARRIED] + [CARRIED] * bool(fields)  # noqa: SIM118 - columns
    parts = [[name if name in names else CARRIED for name in key] for key in keys]
    alike = {tuple(each): itemgetter(*map(names.index, (*each, *amounts))) for each in parts}
    sums = [Counter[Any]() for _ in keys]
    wanted = select(*(inner[name] for name in names if name != CARRIED), *carried)
    for some in connection.execute(wanted).partitions(ROWS_AT_ONCE):
        picked = {each: Counter(map(pick, some)) for each, pick in alike.items()}
        parsed = cache(json.loads)
        for key, each, counts in zip(keys, parts, sums, strict=True):
            places = [fields.index(name) if own == CARRIED else None for name, own in zip(key, each, strict=True)]
            for row, count in picked[tuple(each)].items():
                values = [
                    part if place is None else part and parsed(part)[place]
                    for place, part in zip(places, row, strict=False)
                ]
                counts[(*values, *row[len(key) :])] += count
    for place, (key, counts) in enumerate(zip(keys, sums, strict=True)):
        for row, count in counts.items():
            yield place, row[: len(key)], [count * amount for amount in row[len(key) :]]


def _grouped_by_each(
    connection: Connection, rows: Select[Any], keys: Sequence[Sequence[str]], amounts: Sequence[str], most: int
) -> Iterator[tuple[int, tuple[Any, ...], Sequence[Any]]]:
    parsed = rows.offset(0).subquery().c  # without OFFSET each field would parse it again
    names = list(dict.fromkeys(name for key in keys for name in key))
    values = [(parsed[name] if name in parsed else JsonField(parsed[CARRIED], name)).label(name) for name in names]
    inner = select(*values, *(parsed[name] for name in amounts)).subquery()
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
