"""`svc admin import` and `svc admin rates import`: what another tool, or the European Central Bank, has exported."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from cli.admin import command, options
from cli.integrator.output import Answer
from storage.management import imports
from storage.management.imports import ImportReport
from storage.rules import ecb, tool_exports
from storage.rules.tool_exports import FileKind, ImportFile, ImportTool
from storage.tracking import currencies

MOST_PROBLEMS_SHOWN = 20
ROWS_AT_ONCE = 10_000  # the database stays free for others between two batches
app, rates_app = typer.Typer(), typer.Typer(no_args_is_help=True)
Files = Annotated[
    list[Path], typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE...", help="CSV exports.")
]
From = Annotated[ImportTool, typer.Option("--from", help="The tool that wrote the files.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be imported, and import nothing.")]


@command.register(app, "import")
def import_files(files: Files, program: options.ProgramId, tool: From, dry_run: DryRun = False) -> Answer:
    """Import partners, customers and past commissions from the CSV exports of another tool.

    What a file lists follows from its columns. You can import a file again: what is there is left as it is.
    Exit code 1 if a line could not be imported; the other lines are.

    Example: svc admin import --program 1 --from rewardful affiliates.csv customers.csv commissions.csv --dry-run
    """
    read = [(path.name, _read(path, tool)) for path in files]
    report = command.change_in("program", imports.run, program, read, tool, dry_run=dry_run)
    result = {
        "dry_run": dry_run,
        "files": [
            {"file": name, "lists": file.kind, "rows": len(file.rows), "read": file.read, "unread": file.unread}
            for name, file in read
        ],
        "added": {kind.value: report.added[kind] for kind in FileKind},
        "there": {kind.value: report.there[kind] for kind in FileKind},
        "problems": report.problems,
    }
    return Answer(result, "\n".join(_lines(read, report, dry_run=dry_run)), ok=not report.problems)


def _read(path: Path, tool: ImportTool) -> ImportFile:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return tool_exports.read(tool, lines)
    except ValueError as problem:
        raise ValueError(f"{path.name}: {problem}") from None


def _lines(read: Sequence[tuple[str, ImportFile]], report: ImportReport, *, dry_run: bool) -> Iterator[str]:
    for name, file in read:
        columns = ", ".join(f"{field} from {column}" for field, column in file.read.items())
        yield f"{escape(name)}: {len(file.rows)} {file.kind} ({escape(columns)})"
        if file.unread:
            yield f"  not read: {escape(', '.join(file.unread))}"
    word = "would be added" if dry_run else "added"
    for kind in FileKind:
        yield f"{kind}: {report.added[kind]} {word}, {report.there[kind]} there before"
    for problem in report.problems[:MOST_PROBLEMS_SHOWN]:
        yield f"[red]{escape(problem['file'])}, line {problem['line']}:[/] {escape(problem['message'])}"
    if len(report.problems) > MOST_PROBLEMS_SHOWN:
        yield f"and {len(report.problems) - MOST_PROBLEMS_SHOWN} more; --json lists them all"


@command.register(rates_app, "import")
def import_rates(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True, help="The CSV file, unzipped.")],
) -> Answer:
    """Import the ECB's euro reference rates: eurofxref.csv (a day) or eurofxref-hist.csv (all days).

    Importing a day again replaces its rates.

    Example: svc admin rates import eurofxref-hist.csv
    """
    rates = ecb.parse(file.read_bytes())
    for start in range(0, len(rates), ROWS_AT_ONCE):
        command.write(currencies.load, rates[start : start + ROWS_AT_ONCE])
    days, codes = {day for day, _, _ in rates}, {code for _, code, _ in rates}
    first, last = min(days).isoformat(), max(days).isoformat()
    result = {"rates": len(rates), "currencies": len(codes), "first_day": first, "last_day": last}
    return Answer(result, f"Imported {len(rates)} rates of {len(codes)} currencies, {first} to {last}.")
