"""The hot statements as SQL that a person can read: one text for each, with both dialects."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import sqlparse
from sqlalchemy import Dialect
from sqlalchemy.dialects import postgresql, sqlite

import storage
from storage.engine.statements import Append, Prepared

DIALECTS: list[tuple[str, Dialect, Any]] = [
    ("SQLite", sqlite.dialect(paramstyle="named"), sqlite.insert),
    ("PostgreSQL", postgresql.dialect(paramstyle="named"), postgresql.insert),  # type: ignore[no-untyped-call]
]


def statements() -> Iterator[tuple[str, Prepared]]:
    """Yield every statement that is prepared in a module of storage, with its name: tracking.clicks.find."""
    for module in pkgutil.walk_packages(storage.__path__, "storage."):
        if not module.name.startswith("storage.migrations"):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, Prepared | Append):
                    found = value._in_one if isinstance(value, Append) else value  # noqa: SLF001 - read, not run
                    yield f"{module.name.removeprefix('storage.')}.{name.strip('_')}", found


def sql(statement: Prepared) -> str:
    """Return a statement in both dialects, formatted, with its constants in place; `:rows` is the batch as JSON."""
    return "\n".join(f"-- {name}\n{_rendered(statement, dialect, insert)}\n" for name, dialect, insert in DIALECTS)


def _rendered(statement: Prepared, dialect: Dialect, insert: Any) -> str:
    compiled = statement._build(insert).compile(dialect=dialect)  # noqa: SLF001 - read, not run
    values = compiled.construct_params({"rows": ""})
    text = re.sub(r"(?<!:):(\w+)", lambda found: _literal(found[1], values), str(compiled))
    return sqlparse.format(text, reindent=True)


def _literal(name: str, values: dict[str, Any]) -> str:
    if name == "rows" or name not in values:
        return f":{name}"
    value = values[name]
    return f"'{value}'" if isinstance(value, str) else str(value)
