"""`svc admin export`: old events as Parquet files (DuckDB, of the extra `analytics`); `retention`: delete clicks."""

import gzip
import json
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from cli.admin import command
from cli.integrator.output import Answer, Failure, Flag, written
from storage import Storage
from storage.reports import exported_events
from storage.rules.periods.period import Month
from storage.rules.reports.breakdown import Dimension, GroupTotals
from storage.tracking import click_retention

COLUMNS = {
    "program_id": "BIGINT",
    "currency": "VARCHAR",
    "kind": "VARCHAR",
    "at": "TIMESTAMP",
    **{each.value: "VARCHAR" for each in Dimension},
    **dict.fromkeys(GroupTotals._fields, "BIGINT"),
}
app = typer.Typer()


@command.register(app)
def export(month: str, to: Path) -> Answer:
    """Write the events of a month, of all programs, to TO/events-MONTH.parquet; the service may run."""
    chosen = Month.parse(month)
    if chosen.plus(1).starts_at > command.now():
        raise Failure("month_not_over", f"{chosen} is not over yet.", "Export it next month.")
    path = to / f"events-{chosen}.parquet"
    count = command.run(lambda store: write_month(store, chosen, path))
    return Answer({"file": path, "events": count, "bytes": path.stat().st_size}, f"{path}: {count:,} events.")


async def write_month(store: Storage, month: Month, path: Path) -> int:
    """Write the events of a month, replacing the file if all goes well, and return their number. Raises Failure."""
    try:
        import duckdb  # noqa: PLC0415 - of the extra `analytics`
    except ImportError:
        hint = "Install it: pip install 'affiliate-tracking-service[analytics]'."
        raise Failure("extra_missing", "This command needs DuckDB.", hint) from None
    count = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".export-", dir=path.parent) as folder:
        rows = Path(folder) / "rows.json.gz"
        made = Path(folder) / "events.parquet"
        with gzip.open(rows, "wt", compresslevel=1, encoding="utf-8") as lines:
            async for chunk in _chunks(store, month):
                lines.writelines(f"{json.dumps(row)}\n" for row in chunk)
                count += len(chunk)
        with duckdb.connect() as database:
            source = database.read_json(str(rows), format="newline_delimited", columns=COLUMNS)
            source.write_parquet(str(made), compression="zstd")
        made.replace(path)
    return count


async def _chunks(store: Storage, month: Month) -> AsyncIterator[list[dict[str, Any]]]:
    """Yield rows, whose names are those of COLUMNS; a value that is missing is null."""
    for program in await store.read(exported_events.list_programs):
        for kind in exported_events.KINDS:
            rows, last = await store.read(exported_events.read_chunk, program, month, kind, after=None)
            yield rows
            while last is not None:
                rows, last = await store.read(exported_events.read_chunk, program, month, kind, after=last)
                yield rows


@command.register(app)
def retention(clicks_days: Annotated[int, typer.Option(min=1, max=36_500)], exact: Flag = False) -> Answer:
    """Delete clicks older than N days; it may run while the service serves."""
    at = command.now()
    months = command.run(lambda store: drop_months(store, clicks_days, at))
    programs = command.run(lambda store: delete_clicks(store, clicks_days, at, is_exact=exact))
    deleted = sum(program["deleted"] for program in programs)
    result = {"dropped_months": months, "deleted": deleted, "programs": programs}
    return Answer(result, written("admin/retention", **result))


async def drop_months(store: Storage, days: int, at: datetime) -> list[str]:
    """Drop the months that every program is past, and say which; none on SQLite."""
    ends = (await store.read(click_retention.ends, days=days, at=at)).values()
    return await store.write(click_retention.drop_months, before=min(ends)) if ends else []


async def delete_clicks(store: Storage, days: int, at: datetime, *, is_exact: bool = False) -> list[dict[str, Any]]:
    """Delete chunk by chunk, each in its own write, so that the service's writes go on in between."""
    programs = []
    for program_id, before in (await store.read(click_retention.ends, days=days, at=at, is_exact=is_exact)).items():
        deleted, after = 0, ""
        while chunk := await store.write(click_retention.delete_some, program_id, before=before, after=after):
            deleted, after = deleted + chunk[0], chunk[1]
        programs.append({"program_id": program_id, "clicks_before": before, "deleted": deleted})
    return programs
