"""The statements that are `.sql` files: hot ones take a batch in one JSON parameter; reports take named values."""

import json
import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Boolean, Connection, Date, String, TextClause, TextualSelect, bindparam, text

from storage.engine.citus import is_distributed
from storage.engine.database import ROWS_SYNTAX, is_server, run_prepared
from storage.tables.columns import Timestamp

FOLDER = Path(__file__).parent.parent / "sql"
_ROWS = re.compile(r"jsonb_to_recordset\(:rows\) AS (\w+)\s*\(((?:[^()]|\(\d+\))*)\)")
_INSERT = re.compile(r"INSERT INTO (\w+) \(([^)]*)\)")
_LOCK = re.compile(r"FOR UPDATE OF \w+")
_SAME_PROGRAM = re.compile(r"\b(\w+\.program_id) = \w+\.program_id")
_OF_PLACE = "(SELECT program_id FROM program_places WHERE program_id = $2) AS place CROSS JOIN "
_VALUE = re.compile(r"(IN )?(?<!:):(\w+)")
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("program_id", "partner_id", "payout_id", "user_id", "workspace_id"), BigInteger),
    **dict.fromkeys(("first_id", "since_id", "end_id", "row_id", "last_number", "statement_number"), BigInteger),
    **dict.fromkeys(("at", "since", "last", "until", "idle_since", "told_at"), Timestamp),
    **dict.fromkeys(("day_ago", "week_ago", "month_ago", "year_ago", "callers_since", "changes_since"), Timestamp),
    **dict.fromkeys(("first_day", "last_day", "end_day"), Date),
    **dict.fromkeys(("transaction_ids", "click_ids"), String),
    "with_key": Boolean,
}


def read_statement(name: str, **columns: Any) -> TextualSelect:
    """Return a read of `storage/sql` by named values; `columns` have the types of those that are no text or number."""
    return named_statement(name).columns(**columns)


def named_statement(name: str) -> TextClause:
    """Return a statement of `storage/sql` by named values, of which a write takes one row or several."""
    return of_named_values(_read(name))


def of_named_values(sql: str) -> TextClause:
    """Return a statement, or a condition, whose named values have the types of their names."""
    named = {name: bool(several) for several, name in _VALUE.findall(sql)}
    kinds = {each: BigInteger if each.endswith("ids") else String for each in named if named[each]} | _KINDS
    values = (bindparam(each, type_=kinds.get(each), expanding=named[each]) for each in named)
    return text(sql).bindparams(*values)


def _read(name: str) -> str:
    return re.sub(r"--.*\n", "", (FOLDER / f"{name}.sql").read_text(encoding="utf-8"))


class Statement:
    """A write or look-up of `storage/sql`, which is PostgreSQL as it stands; `:rows` is the batch.

    A first column `program_id` says where rows lie on a distributed database. There the statement runs once for each
    program, which is a parameter of its own, and its node inserts the rows itself.
    """

    def __init__(self, name: str) -> None:
        self.text = _read(name)
        rows = _ROWS.search(self.text)
        assert rows is not None  # noqa: S101 - each statement has rows
        self.columns = dict(each.split() for each in rows[2].split(","))  # their names and types
        self._expanded = cache(self._expand)
        insert = None if "ON CONFLICT" in self.text else _INSERT.match(self.text)
        # The INSERT of one row, which SQLite's own loop runs faster than one statement over many.
        self._one_row = insert and f"{insert[0]} VALUES ({', '.join('?' * len(self.columns))})"
        self._of_programs = next(iter(self.columns)) == "program_id"

    def __call__(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Run it over rows of JSON-ready values in its columns' order, timestamps as milliseconds; return its rows."""
        if self._one_row is not None and not is_server(connection):
            driver: Any = connection.connection.driver_connection
            driver.executemany(self._one_row, rows)
            return ()
        is_placed = self._of_programs and is_distributed(connection)
        sql = self._expanded(connection.dialect.name, is_placed)
        if not is_placed:
            return run_prepared(connection, sql, (json.dumps(rows),))
        results: list[Any] = []
        for program, its_rows in groupby(sorted(rows, key=itemgetter(0)), key=itemgetter(0)):
            results.extend(run_prepared(connection, sql, (json.dumps(list(its_rows)), program)))
        return results

    def _expand(self, dialect: str, is_placed: bool) -> str:  # noqa: FBT001 - private
        """Return the statement in a database's own syntax: the rows' source, and their items by position."""
        every_source, item, locks = ROWS_SYNTAX[dialect]
        sql = self.text if locks else _LOCK.sub("", self.text)
        inserts = sql.startswith("INSERT")
        for alias in {found[1] for found in _ROWS.finditer(sql)}:
            items = [item.format(alias, index, kind) for index, kind in enumerate(self.columns.values())]
            if is_placed:
                items[0] = "place.program_id" if inserts else "CAST($2 AS bigint)"
            source = every_source.format(alias)
            sql = _ROWS.sub(_OF_PLACE + source if is_placed and inserts else source, sql)
            named = {"*": ", ".join(items), **dict(zip(self.columns, items, strict=True))}
            sql = re.sub(rf"\b{alias}\.(\w+|\*)", lambda found, named=named: named[found[1]], sql)  # type: ignore[misc]
        return _SAME_PROGRAM.sub(r"\1 = CAST($2 AS bigint)", sql) if is_placed and not inserts else sql
