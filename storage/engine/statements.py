"""Set-based statements: a whole batch in one statement with one JSON parameter, compiled once, run at driver level."""

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, FromClause, Table, Text, bindparam, select, true
from sqlalchemy.types import TypeEngine

from storage.engine.database import insert_for, insert_rows, inserts_in_one, run_prepared
from storage.engine.json_rows import (
    DISTRIBUTED,
    PROGRAM,
    JsonItem,
    JsonRows,
    OnProgramsNode,
    PlacedProgram,
    PlacedRows,
    ProgramItem,
)
from storage.engine.program_nodes import is_distributed

Rows = Sequence[Sequence[Any]]


class Parameters:
    """The batch's rows as a FROM element with typed columns: `parameters.code`, in the order they were named.

    A first column `program_id` says where rows lie on a distributed database.
    """

    def __init__(self, **columns: TypeEngine[Any]) -> None:
        self.rows = _from(JsonRows)
        self._items: dict[str, JsonItem] = {
            name: (ProgramItem if name == "program_id" and not index else JsonItem)(index, type_)
            for index, (name, type_) in enumerate(columns.items())
        }

    def __getattr__(self, name: str) -> Any:
        return self._items[name]

    def reach(self, table: Any) -> Any:
        """Match a table that is joined through another one: a distributed database looks for each on one node."""
        return OnProgramsNode(table.c.program_id)

    @property
    def names(self) -> list[str]:
        """The columns' names, for INSERT ... SELECT."""
        return list(self._items)

    @property
    def placed_items(self) -> list[Any]:
        """The columns' values, in the same order, for rows of a program's place."""
        program, *others = self._items.values()
        return [PlacedProgram(0, program.type), *others]


class Prepared:
    """A statement over `Parameters` rows. `build` gets the dialect's INSERT and returns the statement.

    On a distributed database it runs once for each program of the rows, which is a parameter of its own there.
    """

    def __init__(self, build: Callable[[Callable[..., Any]], Any]) -> None:
        self._build = build
        self._compiled: dict[str, tuple[str, dict[str, Any], list[str]]] = {}

    def __call__(self, connection: Connection, rows: Rows) -> Sequence[Any]:
        """Run it over the rows (JSON-ready values, timestamps as milliseconds); return rows with named columns."""
        database = DISTRIBUTED if is_distributed(connection) else connection.dialect.name
        sql, constants, order = self._compiled.get(database) or self._compile(connection)
        if PROGRAM not in order:
            values = {**constants, "rows": json.dumps(rows)}
            return run_prepared(connection, sql, tuple(values[name] for name in order))
        results: list[Any] = []
        for program, its_rows in groupby(sorted(rows, key=itemgetter(0)), key=itemgetter(0)):
            values = {**constants, "rows": json.dumps(list(its_rows)), PROGRAM: program}
            results.extend(run_prepared(connection, sql, tuple(values[name] for name in order)))
        return results

    def _compile(self, connection: Connection) -> tuple[str, dict[str, Any], list[str]]:
        statement = self._build(insert_for(connection))
        options = {DISTRIBUTED: True} if is_distributed(connection) else {}
        compiled = statement.compile(dialect=connection.dialect, compile_kwargs=options)
        parts = (str(compiled), compiled.construct_params({"rows": "", PROGRAM: 0}), list(compiled.positiontup or ()))
        self._compiled[DISTRIBUTED if options else connection.dialect.name] = parts
        return parts


class Append:
    """A plain INSERT of whole rows, compiled once: one statement, or the driver's own loop where that is faster."""

    def __init__(self, table: Table, *columns: str) -> None:
        parameters = Parameters(**{name: table.c[name].type for name in columns})
        self._in_one = Prepared(lambda insert: insert_parameters(insert, table, parameters))
        values = ", ".join("?" * len(columns))
        self._one_row = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({values})"  # noqa: S608 - our own names

    def __call__(self, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
        """Insert the rows, values in the order of the columns; timestamps as milliseconds."""
        if inserts_in_one(connection):
            self._in_one(connection, rows)
        else:
            insert_rows(connection, self._one_row, rows)


def insert_parameters(insert: Callable[..., Any], table: Any, parameters: Parameters) -> Any:
    """Return INSERT INTO table (columns) SELECT the parameters, the start of every set-based insert.

    WHERE true keeps SQLite from reading a following ON CONFLICT as a join condition.
    """
    rows = select(*parameters.placed_items).select_from(_from(PlacedRows)).where(true())
    return insert(table).from_select(parameters.names, rows)


def _from(rows: type[JsonRows]) -> FromClause:
    return rows(bindparam("rows", type_=Text)).table_valued("value", name="given_row")
