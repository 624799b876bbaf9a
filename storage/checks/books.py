"""The check that every rollup, ledger and unique key agrees with the events: `svc admin db check`."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from sqlalchemy import Connection, func, select, text

from storage import tables
from storage.checks import ledger
from storage.checks.ledger import BookDifference, compare
from storage.engine.database import is_server
from storage.rules.reports.breakdown import EPOCH
from storage.rules.reports.metrics import Totals

_Cell = tuple[int, int | None, date, str]  # a total of a program's day, of a partner in it or (None) of all
_SQL = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
_DAILY = [*map(text, _SQL.split(";\n"))]
_DIFFERENCES = Path(__file__).with_name("differences.sql").read_text(encoding="utf-8").split(";\n")

# The nodes of a cluster look up each row by its key; that would add up the ledger again for each commission.
_WHOLE_TABLES = (
    text("SET LOCAL citus.propagate_set_commands = 'local'"),
    *(text(f"SET LOCAL {each} = on") for each in ("enable_hashjoin", "enable_seqscan")),
    text("SET LOCAL enable_nestloop = off"),
)
_KEYS = tomllib.loads(Path(__file__).with_name("unique_keys.toml").read_text(encoding="utf-8"))
UNIQUE = [(what, tables.metadata.tables[table], names) for what, (table, *names) in _KEYS.items()]


def run(connection: Connection) -> list[BookDifference]:
    """Recompute everything that is stored twice, over one snapshot, and return each difference."""
    if is_server(connection):
        for setting in _WHOLE_TABLES:
            connection.execute(setting)
    parts = (_doubled, ledger.differences, _differences, _rollups)
    return [difference for part in parts for difference in part(connection)]


def _doubled(connection: Connection) -> Iterator[BookDifference]:
    """Yield every value that more than one row of a program carries."""
    for what, table, names in UNIQUE:
        columns = [table.c[name] for name in names]
        key = [table.c.program_id, *columns]
        count = func.count().label("rows")
        present = [column.is_not(None) for column in columns]
        for row in connection.execute(select(*key, count).where(*present).group_by(*key).having(count > 1)):
            values = ", ".join(f"{name} {value}" for name, value in zip(names, row[1:-1], strict=True))
            yield BookDifference(what, f"program {row.program_id}, {values}", row.rows, 1)


def _differences(connection: Connection) -> Iterator[BookDifference]:
    for statement in map(text, _DIFFERENCES):
        for row in connection.execute(statement).mappings():
            ids = (f"{name.removesuffix('_id')} {value}" for name, value in row.items() if name.endswith("_id"))
            yield BookDifference(row["what"], ", ".join(ids), int(row["stored"]), int(row["recomputed"]))


def _rollups(connection: Connection) -> Iterator[BookDifference]:
    """Yield every daily total of a program or a partner that is not what the events add up to."""
    recomputed, stored = Counter[_Cell](), Counter[_Cell]()
    for statement in _DAILY:
        for row in connection.execute(statement).mappings():
            day = EPOCH + timedelta(days=row["day"])
            for name in Totals._fields:
                if value := int(row.get(name) or 0):
                    recomputed[row["program_id"], row["partner_id"], day, name] += value
                    recomputed[row["program_id"], None, day, name] += value
    for table in (tables.rollups, tables.partner_rollups):
        for row in connection.execute(select(table)).mappings():
            own = (row["program_id"], row.get("partner_id"), row["day"])
            stored.update({(*own, name): row[name] for name in Totals._fields})
    # Clicks that are deleted by now are as the partners' totals have them: the programs' totals are their sums.
    ends = {row.program_id: row.deleted_before.date() for row in connection.execute(select(tables.click_retention))}
    for (program_id, partner_id, day, name), count in stored.items():
        missing = count - recomputed[program_id, partner_id, day, name]
        is_deleted = name == "clicks" and program_id in ends and day < ends[program_id]
        if is_deleted and partner_id is not None and missing > 0:
            recomputed[program_id, None, day, name] += missing
            recomputed[program_id, partner_id, day, name] = count
    for cell in sorted(recomputed.keys() | stored.keys(), key=lambda each: (each[0], each[1] or 0, *each[2:])):
        program_id, partner_id, day, name = cell
        kind, whose = ("program", "") if partner_id is None else ("partner", f", partner {partner_id}")
        where = f"program {program_id}{whose} on {day}"
        yield from compare(where, (f"{kind} rollup {name}", stored[cell], recomputed[cell]))
