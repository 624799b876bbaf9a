"""`svc admin copy`: every row of one database into another, of the same kind or not."""

import asyncio
from typing import Annotated, Any

import typer
from rich.markup import escape

from cli import logs
from cli.admin import command
from cli.admin.command import CommandAnswer
from cli.integrator.output import Failure
from storage import Storage, migrations
from storage.checks import books
from storage.engine import copying, database, ids
from storage.engine.copying import Position

ROWS_BETWEEN_LINES = 100_000
app = typer.Typer()
Source = Annotated[str, typer.Option("--from", help="The URL of the database to read, as in SVC_DATABASE_URL.")]
Target = Annotated[str, typer.Option("--to", help="The URL of an empty database; its tables are created.")]


@command.register(app)
def copy(source: Source, target: Target) -> CommandAnswer:
    """Copy a database to another: SQLite to PostgreSQL, or back. Stop the service first.

    A copy that was interrupted goes on where it stopped when the same command runs again. At the end the rows of both
    databases are counted, and both are checked as `svc admin db check` does; exit 1 if they differ.

    Example:
      svc admin copy --from sqlite+aiosqlite:///svc.db --to postgresql+asyncpg://svc:password@db/svc

    """
    parsed = database.parse_url(source)
    if parsed == database.parse_url(target):
        raise Failure("same_database", "Both URLs name the same database.", "Name another one with --to.")
    if database.is_sqlite(parsed) and not database.file_of(parsed).exists():
        raise Failure("database_missing", f"There is no file {parsed.database}.", "Name a database with --from.")
    with command.no_service(source), command.no_service(target):
        logs.configure()
        result = asyncio.run(_copy(source, target))
    return CommandAnswer(result, _text(result), ok=result["ok"])


async def _copy(source: str, target: str) -> dict[str, Any]:
    async with command.opened(source, "source") as reading:
        await migrations.upgrade(target)
        async with command.opened(target) as writing:
            await _copy_rows(reading, writing, database.parse_url(source).render_as_string(hide_password=True))
            counted = [await store.read(copying.counts) for store in (reading, writing)]
            checked = [await store.read(books.run) for store in (reading, writing)]
            await writing.write(copying.finish, await reading.read(ids.largest_assigned))
    return {
        "ok": counted[0] == counted[1] and not any(checked),
        "rows": sum(counted[1].values()),
        "tables": {table: {"from": rows, "to": counted[1][table]} for table, rows in counted[0].items()},
        "differences": {
            side: [str(difference) for difference in found] for side, found in zip(("from", "to"), checked, strict=True)
        },
    }


async def _copy_rows(reading: Storage, writing: Storage, source: str) -> None:
    """Copy each table after those that it refers to, and tell the progress on stderr."""
    positions = await writing.write(copying.begin, source)
    if positions is None:
        raise Failure(
            "target_not_empty",
            "The target database already holds rows.",
            "Name an empty one; an unfinished copy goes on only from the database that it began with.",
        )
    totals = await reading.read(copying.counts)
    for table in copying.TABLES:
        at = positions.get(table.name, Position())
        reported = at.rows
        while at.rows < totals[table.name]:
            chunk = await reading.read(copying.read_chunk, table, at)
            if not chunk.rows:
                break
            await writing.write(copying.store_chunk, table, chunk, source)
            at = chunk.position
            if at.rows >= min(reported + ROWS_BETWEEN_LINES, totals[table.name]):
                typer.echo(f"{table.name}: {at.rows:,} of {totals[table.name]:,} rows", err=True)
                reported = at.rows


def _text(result: dict[str, Any]) -> str:
    uneven = [
        f"[red]{table}: {rows['from']:,} rows in the source, {rows['to']:,} in the target[/]"
        for table, rows in result["tables"].items()
        if rows["from"] != rows["to"]
    ]
    found = [f"[red]{side}: {escape(each)}[/]" for side, all_of in result["differences"].items() for each in all_of]
    verdict = "Both databases hold the same rows, and all totals match the events."
    return "\n".join([f"{result['rows']:,} rows are in the target.", *(uneven + found or [verdict])])
