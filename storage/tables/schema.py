"""Reads the tables of a `.sql` file: statements of PostgreSQL, a column, key or index a line.

A TIMESTAMP is stored as milliseconds (`Timestamp`), and a column that REFERENCES another has that one's type.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import schema, text, types
from sqlalchemy.schema import Column, ForeignKey, ForeignKeyConstraint, Table, UniqueConstraint

from storage.tables.columns import AssignedId, Timestamp, metadata

_TABLE = re.compile(r"CREATE TABLE (\w+) \(\n(.*?)\n\);", re.DOTALL)
_INDEX = re.compile(r"CREATE (UNIQUE )?INDEX (\w+) ON (\w+) \((.*?)\)(?: WHERE (.*))?;")
_COLUMN = re.compile(
    r"(\w+) ([A-Z]+)(?:\((\d+)\))?(?: REFERENCES (\w+) \((\w+)\))?(?: DEFAULT '?(\w+)'?)?((?: [A-Z]+)*)"
)
_KEY = re.compile(r"(?:PRIMARY KEY|(UNIQUE)|FOREIGN KEY) \((.*?)\)(?: REFERENCES (\w+) \((.*?)\))?( DEFERRABLE .*)?")
_TYPES: dict[str, Any] = {
    "BIGINT": types.BigInteger,
    "BOOLEAN": types.Boolean,
    "BYTEA": types.LargeBinary,
    "DATE": types.Date,
    "INTEGER": types.Integer,
    "TEXT": types.Text,
    "TIMESTAMP": Timestamp,
    "VARCHAR": types.String,
}


def declare_tables(subject: str) -> None:
    """Add the tables of a subject's file to `metadata`. Raises ValueError for a line that is not understood."""
    sql = re.sub(r" *--.*", "", (Path(__file__).parent / f"{subject}.sql").read_text(encoding="utf-8"))
    indexes = _INDEX.findall(sql)
    for name, content in _TABLE.findall(sql):
        lines = [each.strip().removesuffix(",") for each in content.splitlines() if each.strip()]
        its_own = (_index(*each) for each in indexes if each[2] == name)
        # On SQLite, too, an id that the database assigned is never assigned again once its row is deleted.
        Table(name, metadata, *_parts(lines), *its_own, sqlite_autoincrement="BIGSERIAL" in content)


def _parts(lines: list[str]) -> Iterator[schema.SchemaItem]:
    primary = next((line for line in lines if line.startswith("PRIMARY KEY")), "")
    for line in lines:
        if found := _KEY.fullmatch(line):
            is_unique, names, target, targets, deferrable = found.groups()
            if target:
                named = [f"{target}.{each}" for each in targets.split(", ")]
                options: Any = {"deferrable": True, "initially": "DEFERRED"} if deferrable else {}
                yield ForeignKeyConstraint(names.split(", "), named, **options)
            elif is_unique:
                yield UniqueConstraint(*names.split(", "))
        elif found := _COLUMN.fullmatch(line):
            yield _column(*found.groups(), in_key=re.search(rf"\b{found[1]}\b", primary) is not None)
        else:
            raise ValueError(f"not understood: {line}")


def _column(name: str, kind: str, *further: str | None, in_key: bool) -> Column[Any]:
    """Return the column of a line: its name and type, then its length, what it refers to, its default and the rest."""
    length, target, of_target, default, rest = further
    if kind == "BIGSERIAL":
        return Column(name, AssignedId, primary_key=True)
    typed = _TYPES[kind](int(length)) if length else _TYPES[kind]
    is_key = in_key or "PRIMARY KEY" in str(rest)
    about: dict[str, Any] = {"primary_key": is_key, "nullable": not is_key and "NOT NULL" not in str(rest)}
    about |= {"unique": "UNIQUE" in str(rest) or None, "server_default": default, "autoincrement": False}
    return Column(name, ForeignKey(f"{target}.{of_target}") if target else typed, **about)


def _index(unique: str, name: str, _: str, columns: str, condition: str) -> schema.Index:
    only: Any = dict.fromkeys(("sqlite_where", "postgresql_where"), text(condition)) if condition else {}
    return schema.Index(name, *columns.split(", "), unique=bool(unique), **only)
