"""Expressions that each database writes in its own way."""

from typing import Any

from sqlalchemy import Boolean, Integer, Text, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class _ByDialect(FunctionElement[Any]):
    """An expression that each database writes in its own way, around its parts."""

    inherit_cache = True
    sql: dict[str, str]


class JsonField(_ByDialect):
    """A field of a column that holds a JSON object as text; null where the object lacks it. The name is a constant."""

    inherit_cache = True
    type = Text()
    sql = {"sqlite": "({0} ->> {1})", "postgresql": "(CAST({0} AS JSONB) ->> {1})"}  # noqa: RUF012 - a constant

    def __init__(self, column: Any, name: str) -> None:
        super().__init__(column, literal_column(f"'{name}'"))


class JsonObject(_ByDialect):
    """A column that holds a JSON object as text, parsed for `JsonField`s of it, where the database keeps that."""

    inherit_cache = True
    type = Text()
    sql = {"sqlite": "{0}", "postgresql": "CAST({0} AS JSONB)"}  # noqa: RUF012 - a constant


class MonthNumber(_ByDialect):
    """The UTC month of a column of milliseconds: twelve times the year, plus 0 for January to 11 for December."""

    inherit_cache = True
    type = Integer()
    sql = {  # noqa: RUF012 - a constant
        "sqlite": "(12 * CAST(strftime('%Y', {0} / 1000, 'unixepoch') AS INTEGER)"
        " + CAST(strftime('%m', {0} / 1000, 'unixepoch') AS INTEGER) - 1)",
        "postgresql": "CAST(12 * EXTRACT(YEAR FROM to_timestamp({0} / 1000) AT TIME ZONE 'UTC')"
        " + EXTRACT(MONTH FROM to_timestamp({0} / 1000) AT TIME ZONE 'UTC') - 1 AS INTEGER)",
    }


class ContainsText(_ByDialect):
    """Whether a text contains another."""

    inherit_cache = True
    type = Boolean()
    sql = {"sqlite": "(instr({0}, {1}) > 0)", "postgresql": "(strpos({0}, {1}) > 0)"}  # noqa: RUF012 - a constant


class PlainLower(_ByDialect):
    """A text with its ASCII letters in lower case: PostgreSQL takes many times as long for those of every language."""

    inherit_cache = True
    type = Text()
    sql = {"sqlite": "lower({0})", "postgresql": 'lower({0} COLLATE "C")'}  # noqa: RUF012 - a constant


@compiles(_ByDialect)
def _in_its_dialect(element: _ByDialect, compiler: SQLCompiler, **options: Any) -> str:
    parts = [compiler.process(clause, **options) for clause in element.clauses]
    return element.sql[compiler.dialect.name].format(*parts)
