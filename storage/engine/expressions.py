"""Expressions that each database writes in its own way, and the sums of rows by several keys from one read."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Boolean, Connection, Integer, Select, Text, func, literal_column, select, tuple_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine

from storage.engine.database import is_server

ROWS_AT_ONCE = 10_000
CARRIED = "carried"


class _ByDialect(FunctionElement[Any]):
    """An expression that each database writes in its own way, around its parts."""

    sql: dict[str, str]

    def __init_subclass__(cls, of: TypeEngine[Any], **sql: str) -> None:
        super().__init_subclass__()
        cls.inherit_cache, cls.type, cls.sql = True, of, sql


class JsonField(_ByDialect, of=Text(), sqlite="({0} ->> {1})", postgresql="(CAST({0} AS JSONB) ->> {1})"):
    """A field of a column that holds a JSON object as text; null where the object lacks it. The name is a constant."""

    def __init__(self, column: Any, name: str) -> None:
        super().__init__(column, literal_column(f"'{name}'"))


class MonthNumber(
    _ByDialect,
    of=Integer(),
    sqlite="(12 * CAST(strftime('%Y', {0} / 1000, 'unixepoch') AS INTEGER)"
    " + CAST(strftime('%m', {0} / 1000, 'unixepoch') AS INTEGER) - 1)",
    postgresql="CAST(12 * EXTRACT(YEAR FROM to_timestamp({0} / 1000) AT TIME ZONE 'UTC')"
    " + EXTRACT(MONTH FROM to_timestamp({0} / 1000) AT TIME ZONE 'UTC') - 1 AS INTEGER)",
):
    """The UTC month of a column of milliseconds: twelve times the year, plus 0 for January to 11 for December."""


class ContainsText(_ByDialect, of=Boolean(), sqlite="(instr({0}, {1}) > 0)", postgresql="(strpos({0}, {1}) > 0)"):
    """Whether a text contains another."""


class PlainLower(_ByDialect, of=Text(), sqlite="lower({0})", postgresql='lower({0} COLLATE "C")'):
    """A text with its ASCII letters in lower case: PostgreSQL takes many times as long for those of every language."""


@compiles(_ByDialect)
def _in_its_dialect(element: _ByDialect, compiler: SQLCompiler, **options: Any) -> str:
    parts = [compiler.process(clause, **options) for clause in element.clauses]
    return element.sql[compiler.dialect.name].format(*parts)


def sums_by_each(
    connection: Connection, rows: Select[Any], keys: Sequence[Sequence[str]], amounts: Sequence[str], *, most: int
) -> Iterator[tuple[int, tuple[Any, ...], Sequence[Any]]]:
    """Yield the sums of a statement's amounts for each value of each key, with the key's place: one read serves all.

    A name that is no column of the rows is a field of the JSON object that they have as CARRIED. Of each key it yields
    `most` values or more, if there are as many. PostgreSQL groups by all keys at once; SQLite would sort all rows for
    each key, so they are added up as they come: those that are alike are counted first, and their JSON parsed once.
    """
    if is_server(connection):
        yield from _grouped_by_each(connection, rows, keys, amounts, most * len(keys))
        return
    names = [column.name for column in rows.selected_columns]
    carried, start = names.index(CARRIED), len(names) - len(amounts)
    places = [[(name, names.index(name) if name in names else None) for name in key] for key in keys]
    sums = [Counter[Any]() for _ in keys]
    for some in connection.execute(rows).partitions(ROWS_AT_ONCE):
        parsed = cache(json.loads)
        for row, count in Counter(map(tuple, some)).items():
            fields, added = parsed(row[carried] or "{}"), row[start:]
            for found, counts in zip(places, sums, strict=True):
                values = [fields.get(name) if place is None else row[place] for name, place in found]
                counts[(*values, *added)] += count
    for n, (key, counts) in enumerate(zip(keys, sums, strict=True)):
        for row, count in counts.items():
            yield n, row[: len(key)], [count * amount for amount in row[len(key) :]]


def _grouped_by_each(
    connection: Connection, rows: Select[Any], keys: Sequence[Sequence[str]], amounts: Sequence[str], most: int
) -> Iterator[tuple[int, tuple[Any, ...], Sequence[Any]]]:
    each = rows.subquery().c
    whole = [each[name] for name in each.keys() if name not in {*amounts, CARRIED}]  # noqa: SIM118 - columns
    parts = [func.jsonb(each[CARRIED]).label(CARRIED), *(func.sum(each[name]).label(name) for name in amounts)]
    alike = select(*whole, *parts).group_by(*whole, each[CARRIED])
    parsed = alike.offset(0).subquery().c  # without OFFSET each field would parse it again
    names = list(dict.fromkeys(name for key in keys for name in key))
    values = [(parsed[name] if name in parsed else JsonField(parsed[CARRIED], name)).label(name) for name in names]
    inner = select(*values, *(parsed[name] for name in amounts)).subquery()
    columns = [inner.c[name] for name in names]
    sums = [func.sum(inner.c[name]) for name in amounts]
    sets = func.grouping_sets(*(tuple_(*(inner.c[name] for name in key)) for key in keys))
    places = {
        sum(1 << bit for bit, name in enumerate(reversed(names)) if name not in key): n for n, key in enumerate(keys)
    }
    for missing, *row in connection.execute(
        select(func.grouping(*columns), *columns, *sums).group_by(sets).limit(most)
    ):
        place = places[missing]
        yield place, tuple(row[names.index(name)] for name in keys[place]), row[len(names) :]
