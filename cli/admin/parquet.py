"""Parquet files of events, one for each month: written and read with DuckDB, which is the extra `analytics`."""

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, NamedTuple

from cli.integrator.output import Failure
from storage.reports.breakdown import added
from storage.reports.exported_events import METRICS
from storage.rules.periods.month import Month
from storage.rules.reports.breakdown import NONE, BreakdownQuery, Dimension, GroupTotals

COLUMNS = {
    "program_id": "BIGINT",
    "currency": "VARCHAR",
    "kind": "VARCHAR",
    "at": "TIMESTAMP",
    **{each.value: "VARCHAR" for each in Dimension},
    **dict.fromkeys(METRICS, "BIGINT"),
}
Values = tuple[str | None, ...]


class ArchivedBreakdown(NamedTuple):
    """The groups with the most of the sort's metric, the sum of the others, and of all."""

    groups: list[tuple[Values, GroupTotals]]
    other: GroupTotals
    total: GroupTotals


def engine() -> ModuleType:
    """Return DuckDB. Raises Failure if it is not installed."""
    try:
        import duckdb  # noqa: PLC0415 - of the extra `analytics`
    except ImportError:
        hint = "Install it: pip install 'affiliate-tracking-service[analytics]'."
        raise Failure("extra_missing", "This command needs DuckDB.", hint) from None
    return duckdb


@contextmanager
def written(path: Path) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    """Give a function that adds rows, whose names are COLUMNS; a value that is missing is null.

    The file replaces the one at `path` when the block ends without an error.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".export-", dir=path.parent) as folder:
        rows, made = Path(folder) / "rows.json.gz", Path(folder) / "events.parquet"
        with gzip.open(rows, "wt", compresslevel=1, encoding="utf-8") as lines:
            yield lambda added: lines.writelines(f"{json.dumps(row)}\n" for row in added)
        with engine().connect() as database:
            source = database.read_json(str(rows), format="newline_delimited", columns=COLUMNS)
            source.write_parquet(str(made), compression="zstd")
        os.replace(made, path)  # noqa: PTH105 - the same


def path_of(folder: Path, month: Month) -> Path:
    """Return the file of a month."""
    return folder / f"events-{month}.parquet"


def breakdown(
    files: Iterable[Path], program_id: int, query: BreakdownQuery, filters: dict[str, str]
) -> ArchivedBreakdown:
    """Return a program's totals in the months of these files by the query's dimensions."""
    by = ", ".join(f'"{each.value}"' for each in query.by)
    sums = ", ".join(f'coalesce(sum("{name}"), 0)::BIGINT' for name in METRICS)
    wanted = "".join(f' AND "{Dimension(name).value}" IS NOT DISTINCT FROM ?' for name in filters)
    statement = f"SELECT {by}, {sums} FROM read_parquet(?) WHERE program_id = ?{wanted} GROUP BY {by}"  # noqa: S608 - our names
    values = [None if value == NONE else value for value in filters.values()]
    with engine().connect() as database:
        rows = database.execute(statement, [[str(file) for file in files], program_id, *values]).fetchall()
    width = len(query.by)
    groups = [(tuple(row[:width]), GroupTotals(*row[width:])) for row in rows]
    groups.sort(key=lambda group: (-group[1].figure(query.sort), -group[1].clicks, *(each or "" for each in group[0])))
    shown, rest = groups[: query.limit], groups[query.limit :]
    other = added([GroupTotals(), *(totals for _, totals in rest)])
    return ArchivedBreakdown(shown, other, added([other, *(totals for _, totals in shown)]))
