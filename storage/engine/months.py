"""The calendar month of a stored timestamp as a number, and how each database computes it."""

from typing import Any

from sqlalchemy import Integer
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class MonthNumber(FunctionElement[Any]):
    """The UTC month of a column of milliseconds: twelve times the year, plus 0 for January to 11 for December."""

    inherit_cache = True
    type = Integer()


@compiles(MonthNumber, "sqlite")
def _month_sqlite(element: MonthNumber, compiler: SQLCompiler, **options: Any) -> str:
    seconds = f"{compiler.process(element.clauses, **options)} / 1000, 'unixepoch'"
    return f"(12 * CAST(strftime('%Y', {seconds}) AS INTEGER) + CAST(strftime('%m', {seconds}) AS INTEGER) - 1)"


@compiles(MonthNumber, "postgresql")
def _month_postgresql(element: MonthNumber, compiler: SQLCompiler, **options: Any) -> str:
    at = f"(to_timestamp({compiler.process(element.clauses, **options)} / 1000) AT TIME ZONE 'UTC')"
    return f"CAST(12 * EXTRACT(YEAR FROM {at}) + EXTRACT(MONTH FROM {at}) - 1 AS INTEGER)"
