"""`svc admin copy`: every row of one database into another, of the same kind or not."""

import asyncio
from typing import Annotated

import typer
from rich.markup import escape

from cli import logs
from cli.admin import command
from cli.integrator.output import Answer, Failure
from storage import Storage, migrations
from storage.checks import books
from storage.engine import copying, database, ids
from storage.engine.copying import Position

ROWS_BETWEEN_LINES = 100_000
app = typer.Typer()
Source = Annotated[str, typer.Option("--from", help="The URL of the database to read, as in SVC_DATABASE_URL.")]
Target = Annotated[str, typer.Option("--to", help="The URL of an empty database; its tables are created.")]


@command.register(app)
def copy(source: Source, target: Target) -> Answer:
    """Copy a database to another: SQLite to PostgreSQL, or back. Stop the service first.

    A copy that was interrupted goes on where it stopped when the same command runs again. At the end the rows of both
    databases are counted, and both are checked as `svc admin db check` does; exit 1 if they differ.

    Example: svc admin copy --from sqlite+aiosqlite:///svc.db --to postgresql+asyncpg://svc:password@db/svc
    """
    parsed = database.parse_url(source)
    if parsed == database.parse_url(target):
        raise Failure("same_database", "Both URLs name the same database.", "Name another one with --to.")
    if database.is_sqlite(parsed) and not database.file_of(parsed).exists():
        raise Failure("database_missing", f"There is no file {parsed.database}.", "Name a database with --from.")
    with command.no_service(source), command.no_service(target):
        logs.configure()
        counted, checked = asyncio.run(_copy(source, target))
    tables = {table: {"from": rows, "to": counted[1][table]} for table, rows in counted[0].items()}
    differences = dict(zip(("from", "to"), checked, strict=True))
    lines = [
        f"[red]{table}: {rows['from']:,} rows in the source, {rows['to']:,} in the target[/]"
        for table, rows in tables.items()
        if rows["from"] != rows["to"]
    ]
    lines += [f"[red]{side}: {escape(each)}[/]" for side, found in differences.items() for each in found]
    ok, rows = not lines, sum(counted[1].values())
    verdict = lines or ["Both databases hold the same rows, and all totals match the events."]
    result = {"ok": ok, "rows": rows, "tables": tables, "differences": differences}
    return Answer(result, "\n".join([f"{rows:,} rows are in the target.", *verdict]), ok=ok)


async def _copy(source: str, target: str) -> tuple[list[dict[str, int]], list[list[str]]]:
    """Copy, then return the rows of each table and the differences in the books, of the source and of the target."""
    async with command.opened(source, "source") as reading:
        await migrations.upgrade(target)
        async with command.opened(target) as writing:
            await _copy_rows(reading, writing, database.parse_url(source).render_as_string(hide_password=True))
            counted = [await store.read(copying.counts) for store in (reading, writing)]
            checked = [list(map(str, await store.read(books.run))) for store in (reading, writing)]
            await writing.write(copying.finish, await reading.read(ids.largest_assigned))
    return counted, checked


async def _copy_rows(reading: Storage, writing: Storage, source: str) -> None:
    """Copy each table after those that it refers to, and tell the progress on stderr."""
    positions = await writing.write(copying.begin, source)
    if positions is None:
        hint = "Name an empty one; an unfinished copy goes on only from the database that it began with."
        raise Failure("target_not_empty", "The target database already holds rows.", hint)
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
