"""`svc admin import`: bring partners, customers and past commissions over from another tool."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import Connection

from cli.admin import command, options
from storage.engine.audit import OPERATOR
from storage.management import imports
from storage.management.imports import ImportReport
from storage.rules import import_layouts
from storage.rules.import_layouts import FileKind, ImportFile, ImportTool

MOST_PROBLEMS_SHOWN = 20
Files = Annotated[
    list[Path], typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE...", help="CSV exports.")
]
From = Annotated[ImportTool, typer.Option("--from", help="The tool that wrote the files.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be imported, and import nothing.")]


def import_files(
    files: Files, program: options.ProgramId, tool: From, dry_run: DryRun = False, as_json: options.Json = False
) -> None:
    """Import partners, customers and past commissions from the CSV exports of another tool.

    What a file lists follows from its columns. You can import a file again: what is there is left as it is.
    Exit code 1 if a line could not be imported; the other lines are.

    Example:
      svc admin import --program 1 --from rewardful affiliates.csv customers.csv commissions.csv --dry-run

    """
    with command.answering(as_json=as_json) as response:
        read = [(path.name, _read(path, tool)) for path in files]
        report = command.write(_run, program, read, tool, dry_run=dry_run, at=command.now())
        result = {
            "dry_run": dry_run,
            "files": [_described(name, file) for name, file in read],
            "added": {kind.value: report.added[kind] for kind in FileKind},
            "there": {kind.value: report.there[kind] for kind in FileKind},
            "problems": report.problems,
        }
        response(result, "\n".join(_lines(read, report, dry_run=dry_run)))
    if report.problems:
        raise typer.Exit(1)


def _read(path: Path, tool: ImportTool) -> ImportFile:
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return import_layouts.read(tool, lines)
    except ValueError as problem:
        raise ValueError(f"{path.name}: {problem}") from None


def _run(connection: Connection, program_id: int, *arguments: Any, **choices: Any) -> ImportReport:
    command.require_program(connection, program_id)
    return imports.run(connection, program_id, *arguments, actor=OPERATOR, **choices)


def _described(name: str, file: ImportFile) -> dict[str, Any]:
    return {"file": name, "lists": file.kind, "rows": len(file.rows), "read": file.read, "unread": file.unread}


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
