"""`svc admin export` and `svc admin analyze`: the events of closed months as Parquet files, and breakdowns of them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.admin import command, parquet
from cli.admin.command import CommandAnswer
from cli.integrator.output import Failure
from storage import Storage
from storage.reports import exported_events
from storage.rules.periods.month import Month
from storage.rules.reports import breakdown
from storage.rules.reports.breakdown import GroupTotals

app = typer.Typer()
Name = Annotated[str, typer.Option("--month", help="A month that is over, such as 2026-05.")]
Folder = Annotated[Path, typer.Option("--to", help="The folder of the files; it is created.")]
Archive = Annotated[Path, typer.Option("--in", help="The folder that `svc admin export` wrote to.")]
Program = Annotated[int, typer.Option("--program", help="The program's id.")]
By = Annotated[
    list[str], typer.Option("--by", help="One dimension, or two: referrer, partner, utm_source, country ...")
]
First = Annotated[str | None, typer.Option("--from", help="The first month; the first file by default.")]
Last = Annotated[str | None, typer.Option("--until", help="The last month; the last file by default.")]
Filters = Annotated[list[str], typer.Option("--filter", help="Only events with this value: device=mobile. Repeatable.")]
Sort = Annotated[str, typer.Option("--sort", help="The metric whose largest groups come first.")]
Limit = Annotated[int, typer.Option("--limit", min=1, max=breakdown.MOST_ROWS, help="The number of groups.")]


@command.register(app)
def export(month: Name, to: Folder) -> CommandAnswer:
    """Write the events of a month, of all programs, to TO/events-MONTH.parquet; the service may run.

    The file has a row for each event that reports count, with its value of every dimension and its metrics, and no
    personal data. A refund changes the month of its sale: export that month again, which replaces the file.

    Example:
      svc admin export --month 2026-05 --to archive

    """
    chosen = Month.parse(month)
    if chosen.plus(1).starts_at > command.now():
        raise Failure("month_not_over", f"{chosen} is not over yet.", "Export it next month.")
    parquet.engine()
    path = parquet.path_of(to, chosen)
    count = command.run(lambda store: write_month(store, chosen, path))
    return CommandAnswer({"file": path, "events": count, "bytes": path.stat().st_size}, f"{path}: {count:,} events.")


async def write_month(store: Storage, month: Month, path: Path) -> int:
    """Write the events of a month and return their number."""
    count = 0
    with parquet.written(path) as add:
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


@command.register(app)
def analyze(
    archive: Archive,
    program: Program,
    by: By,
    first: First = None,
    last: Last = None,
    filters: Filters = [],  # noqa: B006 - typer reads it, nothing changes it
    sort: Sort = "clicks",
    limit: Limit = 25,
) -> CommandAnswer:
    """Show a program's totals by one or two dimensions over the months that were exported, without the database.

    Example:
      svc admin analyze --in archive --program 1 --by referrer --from 2025-01 --until 2026-05

    """
    sent = dict(each.partition("=")[::2] for each in filters)
    query = breakdown.query(by[0], *by[1:2], filters=sent, sort=sort, limit=limit)
    files = list_files(archive, first, last)
    result = parquet.breakdown(files, program, query, sent)
    groups = [{"values": list(values), **totals._asdict()} for values, totals in result.groups]
    rest = {"other": result.other._asdict(), "total": result.total._asdict()}
    return CommandAnswer({"months": [file.stem[-7:] for file in files], "groups": groups, **rest}, _text(result))


def list_files(folder: Path, first: str | None, last: str | None) -> list[Path]:
    """Return the files of the months from `first` to `last`, by time. Raises Failure if there is none."""
    bounds = [str(Month.parse(each)) if each else default for each, default in ((first, "0000-00"), (last, "9999-99"))]
    files = [file for file in sorted(folder.glob("events-????-??.parquet")) if bounds[0] <= file.stem[-7:] <= bounds[1]]
    if not files:
        raise Failure("nothing_exported", f"{folder} has no month of these.", "Write some: svc admin export.")
    return files


def _text(result: parquet.ArchivedBreakdown) -> str:
    rows = [*result.groups, (("other",), result.other), (("total",), result.total)]
    return "\n".join(
        f"{_figures(totals)}  {' / '.join(value or '(none)' for value in values)}" for values, totals in rows
    )


def _figures(totals: GroupTotals) -> str:
    shown: dict[str, Any] = totals._asdict()
    return "  ".join(f"{name} {shown[name]:,}" for name in ("clicks", "leads", "sales", "revenue_cents"))
