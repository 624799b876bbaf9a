"""`svc admin export` and `svc admin analyze`: the events of closed months as Parquet files, and breakdowns of them.

DuckDB, of the extra `analytics`, writes and reads the files.
"""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Annotated, Any

import typer

from cli.admin import command, options
from cli.integrator.output import Answer, Failure
from storage import Storage
from storage.reports import exported_events
from storage.reports.exported_events import METRICS
from storage.rules.periods.month import Month
from storage.rules.reports import breakdown_query
from storage.rules.reports.breakdown import (
    BreakdownGroup,
    BreakdownQuery,
    Dimension,
    GroupTotals,
    RankedGroups,
    ranked,
)

COLUMNS = {
    "program_id": "BIGINT",
    "currency": "VARCHAR",
    "kind": "VARCHAR",
    "at": "TIMESTAMP",
    **{each.value: "VARCHAR" for each in Dimension},
    **dict.fromkeys(METRICS, "BIGINT"),
}
app = typer.Typer()
Name = Annotated[str, typer.Option("--month", help="A month that is over, such as 2026-05.")]
Folder = Annotated[Path, typer.Option("--to", help="The folder of the files; it is created.")]
Archive = Annotated[Path, typer.Option("--in", help="The folder that `svc admin export` wrote to.")]
By = Annotated[
    list[str], typer.Option("--by", help="One dimension, or two: referrer, partner, utm_source, country ...")
]
First = Annotated[str | None, typer.Option("--from", help="The first month; the first file by default.")]
Last = Annotated[str | None, typer.Option("--until", help="The last month; the last file by default.")]
Filters = Annotated[list[str], typer.Option("--filter", help="Only events with this value: device=mobile. Repeatable.")]
Sort = Annotated[str, typer.Option("--sort", help="The metric whose largest groups come first.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=breakdown_query.MOST_ROWS, help="The number of groups.")]


@command.register(app)
def export(month: Name, to: Folder) -> Answer:
    """Write the events of a month, of all programs, to TO/events-MONTH.parquet; the service may run.

    The file has a row for each event that reports count, with its value of every dimension and its metrics, and no
    personal data. A refund changes the month of its sale: export that month again, which replaces the file.

    Example: svc admin export --month 2026-05 --to archive
    """
    chosen = Month.parse(month)
    if chosen.plus(1).starts_at > command.now():
        raise Failure("month_not_over", f"{chosen} is not over yet.", "Export it next month.")
    _duckdb()
    path = path_of(to, chosen)
    count = command.run(lambda store: write_month(store, chosen, path))
    return Answer({"file": path, "events": count, "bytes": path.stat().st_size}, f"{path}: {count:,} events.")


def path_of(folder: Path, month: Month) -> Path:
    """Return the file of a month."""
    return folder / f"events-{month}.parquet"


async def write_month(store: Storage, month: Month, path: Path) -> int:
    """Write the events of a month and return their number."""
    count = 0
    with _written(path) as add:
        for program in await store.read(exported_events.list_programs):
            for kind in exported_events.KINDS:
                last = None
                while True:
                    chunk = await store.read(exported_events.read_chunk, program, month, kind, after=last)
                    add(chunk.rows)
                    count, last = count + len(chunk.rows), chunk.last
                    if last is None:
                        break
    return count


@contextmanager
def _written(path: Path) -> Iterator[Callable[[list[dict[str, Any]]], None]]:
    """Give a function that adds rows, whose names are COLUMNS; a value that is missing is null.

    The file replaces the one at `path` when the block ends without an error.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".export-", dir=path.parent) as folder:
        rows, made = Path(folder) / "rows.json.gz", Path(folder) / "events.parquet"
        with gzip.open(rows, "wt", compresslevel=1, encoding="utf-8") as lines:
            yield lambda added: lines.writelines(f"{json.dumps(row)}\n" for row in added)
        with _duckdb().connect() as database:
            source = database.read_json(str(rows), format="newline_delimited", columns=COLUMNS)
            source.write_parquet(str(made), compression="zstd")
        made.replace(path)


def _duckdb() -> ModuleType:
    """Return DuckDB. Raises Failure if it is not installed."""
    try:
        import duckdb  # noqa: PLC0415 - of the extra `analytics`
    except ImportError:
        hint = "Install it: pip install 'affiliate-tracking-service[analytics]'."
        raise Failure("extra_missing", "This command needs DuckDB.", hint) from None
    return duckdb


@command.register(app)
def analyze(
    archive: Archive,
    program: options.ProgramId,
    by: By,
    first: First = None,
    last: Last = None,
    filters: Filters = [],  # noqa: B006 - typer reads it, nothing changes it
    sort: Sort = "clicks",
    limit: Limit = 25,
) -> Answer:
    """Show a program's totals by one or two dimensions over the months that were exported, without the database.

    Example: svc admin analyze --in archive --program 1 --by referrer --from 2025-01 --until 2026-05
    """
    sent = dict(each.partition("=")[::2] for each in filters)
    query = breakdown_query.query(by[0], *by[1:2], filters=sent, sort=sort, limit=limit)
    files = list_files(archive, first, last)
    groups, _, other, total = read(files, program, query, sent)
    result = {
        "months": [file.stem[-7:] for file in files],
        "groups": [{"values": list(values), **totals._asdict()} for values, totals in groups],
        "other": other._asdict(),
        "total": total._asdict(),
    }
    lines = []
    for values, totals in [*groups, (("other",), other), (("total",), total)]:
        figures = totals._asdict()
        shown = "  ".join(f"{name} {figures[name]:,}" for name in ("clicks", "leads", "sales", "revenue_cents"))
        lines.append(f"{shown}  {' / '.join(value or '(none)' for value in values)}")
    return Answer(result, "\n".join(lines))


def list_files(folder: Path, first: str | None, last: str | None) -> list[Path]:
    """Return the files of the months from `first` to `last`, by time. Raises Failure if there is none."""
    bounds = [str(Month.parse(each)) if each else default for each, default in ((first, "0000-00"), (last, "9999-99"))]
    files = [file for file in sorted(folder.glob("events-????-??.parquet")) if bounds[0] <= file.stem[-7:] <= bounds[1]]
    if not files:
        raise Failure("nothing_exported", f"{folder} has no month of these.", "Write some: svc admin export.")
    return files


def read(files: Iterable[Path], program_id: int, query: BreakdownQuery, filters: dict[str, str]) -> RankedGroups:
    """Return a program's totals in the months of these files by the query's dimensions."""
    by = ", ".join(f'"{each.value}"' for each in query.by)
    sums = ", ".join(f'coalesce(sum("{name}"), 0)::BIGINT' for name in METRICS)
    chosen = "".join(f' AND "{Dimension(name).value}" IS NOT DISTINCT FROM ?' for name in filters)
    statement = f"SELECT {by}, {sums} FROM read_parquet(?) WHERE program_id = ?{chosen} GROUP BY {by}"  # noqa: S608 - our names
    values = [None if value == breakdown_query.NONE else value for value in filters.values()]
    with _duckdb().connect() as database:
        rows = database.execute(statement, [[str(file) for file in files], program_id, *values]).fetchall()
    width = len(query.by)
    return ranked([BreakdownGroup(tuple(row[:width]), GroupTotals(*row[width:])) for row in rows], query)
