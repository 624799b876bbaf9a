"""`svc admin import` and `svc admin rates import`: what another tool, or the European Central Bank, has exported."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cli.admin import command
from cli.integrator.output import Answer, Flag, written
from cli.integrator.reconcile import money
from storage.management import imports
from storage.management.import_report import OnConflict
from storage.rules import ecb, tool_exports
from storage.tracking import currencies

ROWS_AT_ONCE = 10_000  # the database stays free for others between two batches
app, rates_app = typer.Typer(), typer.Typer(no_args_is_help=True)


@command.register(app, "import")
def import_files(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE...")],
    program: command.ProgramId,
    tool: Annotated[tool_exports.ImportTool, typer.Option("--from", help="The tool that wrote the files.")],
    amounts: tool_exports.AmountUnit | None = None,
    on_conflict: OnConflict = OnConflict.STOP,
    dry_run: Flag = False,
) -> Answer:
    """Import partners, customers and past commissions from the CSV exports of another tool."""
    read = []
    for path in files:
        with path.open(encoding="utf-8-sig", newline="") as lines_of:
            read.append(tool_exports.read(path.name, lines_of, tool, amounts))
    report = command.change_in(imports.run, program, read, on_conflict=on_conflict, dry_run=dry_run)
    said = [
        {"file": each.name, "lists": each.kind, "rows": len(each.rows), "read": each.read, "unread": each.unread}
        for each in read
    ]
    text = written("admin/import", files=read, report=report, dry_run=dry_run, money=money)
    result = {"dry_run": dry_run, "files": said, **vars(report)}
    return Answer(result, text, ok=not report.problems and not report.is_stopped)


@command.register(app, "undo-import")
def undo_import(import_id: Annotated[int, typer.Argument(metavar="ID")], program: command.ProgramId) -> dict[str, Any]:
    """Delete what an import of the last hour added, unless something has been built on it."""
    command.change_in(imports.undo, program, import_id)
    return {"import_id": import_id, "undone": True}


@command.register(rates_app, "import")
def import_rates(file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]) -> dict[str, Any]:
    """Import the ECB's euro reference rates: eurofxref.csv (a day) or eurofxref-hist.csv (all days)."""
    rates = ecb.parse(file.read_bytes())
    for start in range(0, len(rates), ROWS_AT_ONCE):
        command.write(currencies.load, rates[start : start + ROWS_AT_ONCE])
    days = {day for day, _, _ in rates}
    codes = {code for _, code, _ in rates}
    first, last = min(days).isoformat(), max(days).isoformat()
    return {"rates": len(rates), "currencies": len(codes), "first_day": first, "last_day": last}
