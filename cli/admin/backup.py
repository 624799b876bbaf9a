"""`svc admin backup` and `restore`: a verified copy of the database, and the way back; `copy`: to another database."""

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from sqlalchemy.engine import URL

import storage
from cli import logs
from cli.admin import command
from cli.integrator.output import Answer, Failure, Flag, written
from storage import Storage, migrations
from storage.checks import books
from storage.engine import copying, database

_DUMP = "pg_dump --format=custom --file={file} {url}"
_LOAD = "pg_restore --clean --if-exists --single-transaction --dbname={url} {file}"
log = logging.getLogger(__name__)
app = typer.Typer()
File = Annotated[Path, typer.Argument(help="The backup.", dir_okay=False)]


@command.register(app)
def backup(file: File) -> Answer:
    """Copy the SQLite database to a new file, also while the service runs, and check the copy."""
    path = _sqlite_file(_DUMP, file)
    command.require_file(command.database_url())
    if file.exists():
        raise Failure("file_exists", f"{file} exists.", "Name a new file.")
    with _beside(file) as folder:
        partial = Path(folder) / file.name
        _copy(path, partial)
        differences = _check(partial)
        partial.rename(file)
    result = {"file": str(file), "bytes": file.stat().st_size}
    return answer(result, f"{file} is a copy of the database.", differences)


@command.register(app)
def restore(file: File, as_is: Flag = False) -> Answer:
    """Put a backup in the place of the SQLite database, once it is migrated and checked; stop the service first."""
    path = _sqlite_file(_LOAD, file)
    if not file.is_file():
        raise Failure("file_missing", f"There is no file {file}.", "Name a backup.")
    with command.no_service(command.database_url()), _beside(path) as folder:
        partial = Path(folder) / path.name
        _copy(file, partial, is_backup=True)
        if not as_is:
            asyncio.run(migrations.upgrade(_url(partial)))
        differences = _check(partial)
        kept = path.with_name(f"{path.name}.before-restore-{command.now():%Y%m%dT%H%M%SZ}") if path.exists() else None
        for suffix in ("", "-wal", "-shm") if kept else ():  # with the writes that are only in the -wal file
            if (old := path.with_name(path.name + suffix)).exists():
                old.rename(f"{kept}{suffix}")
        partial.rename(path)
    text = f"{path} is restored." + (f" The database before is {kept}." if kept else "")
    return answer({"file": str(path), "kept": str(kept) if kept else None}, text, differences)


def keep_copy(url: str) -> None:
    """Before a database is migrated, keep a copy of a SQLite file beside it, or say how to make one of PostgreSQL."""
    parsed = database.parse_url(url)
    if database.is_sqlite(parsed):
        path = database.file_of(parsed)
        kept = path.with_name(f"{path.name}.before-upgrade-{command.now():%Y%m%dT%H%M%SZ}")
        _copy(path, kept)
        log.warning("this version migrates the database: %s is a copy of it from before", kept)
    else:
        dump = _DUMP.format(file="svc.dump", url=_shown(parsed))
        log.warning("this version migrates the database; this would have kept a copy from before: %s", dump)


def _shown(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def _sqlite_file(example: str, file: Path) -> Path:
    url = database.parse_url(command.database_url())
    if database.is_sqlite(url):
        return database.file_of(url)
    message = f"For PostgreSQL use {example.partition(' ')[0]}."
    raise Failure("use_postgresql_tools", message, f"Run: {example.format(file=file, url=_shown(url))}")


def _beside(path: Path) -> TemporaryDirectory[str]:
    """Return a folder for a file until it is complete; what SQLite leaves in it is removed at the end."""
    return TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent)


def _copy(source: Path, target: Path, *, is_backup: bool = False) -> None:
    """Copy one consistent state, as SQLite's online backup does; beside a backup of one file nothing is left."""
    target.touch(0o600, exist_ok=False)
    is_whole = is_backup and not source.with_name(f"{source.name}-wal").exists()  # no writes are in another file
    address = f"{source.absolute().as_uri()}?mode=ro{'&immutable=1' if is_whole else ''}"
    try:
        with closing(sqlite3.connect(address, uri=True)) as reading, closing(sqlite3.connect(target)) as writing:
            reading.backup(writing)
            writing.execute("PRAGMA journal_mode = DELETE")  # one file, which can be copied
    except sqlite3.Error as error:
        raise Failure("not_a_database", f"{source} cannot be read: {error}.", "Name another file.") from None


def _check(path: Path) -> list[str]:
    """Return what `svc admin db check` finds. Raises Failure if SQLite finds the file corrupt."""
    with closing(sqlite3.connect(path)) as connection:
        ((sound,), *_) = connection.execute("PRAGMA integrity_check").fetchall()
    if sound != "ok":
        raise Failure("database_corrupt", f"The database is corrupt: {sound}", "Use another backup.")
    return asyncio.run(_differences(_url(path)))


async def _differences(url: str) -> list[str]:
    async with storage.opened(url, patient=True) as store:
        is_current = await store.read(migrations.is_current)
        return list(map(str, await store.read(books.run))) if is_current else []


def answer(result: dict[str, Any], text: str, differences: list[str]) -> Answer:
    """Return the answer, which is not ok if the books differ from the events, as `svc admin db check` says."""
    ok, said = not differences, written("admin/checked", text=text, differences=differences)
    return Answer({"ok": ok, **result, "differences": differences}, said, ok=ok)


def _url(path: Path) -> str:
    return URL.create("sqlite+aiosqlite", database=str(path.absolute())).render_as_string()


@command.register(app)
def copy(source: Annotated[str, typer.Option("--from")], target: Annotated[str, typer.Option("--to")]) -> Answer:
    """Copy a database to another: SQLite to PostgreSQL, or back. Stop the service first."""
    parsed = database.parse_url(source)
    if parsed == database.parse_url(target):
        raise Failure("same_database", "Both URLs name the same database.", "Name another one with --to.")
    if database.is_sqlite(parsed) and not database.file_of(parsed).exists():
        raise Failure("database_missing", f"There is no file {parsed.database}.", "Name a database with --from.")
    with command.no_service(source), command.no_service(target):
        logs.configure()
        counted, checked = asyncio.run(_copy_database(source, target))
    tables = {table: {"from": rows, "to": counted[1][table]} for table, rows in counted[0].items()}
    differences = dict(zip(("from", "to"), checked, strict=True))
    ok = counted[0] == counted[1] and not any(checked)
    result = {"ok": ok, "rows": sum(counted[1].values()), "tables": tables, "differences": differences}
    return Answer(result, written("admin/copy", **result), ok=ok)


async def _copy_database(source: str, target: str) -> tuple[list[dict[str, int]], list[list[str]]]:
    """Copy, then return the rows of each table and the differences in the books, of the source and of the target."""
    async with command.opened(source, "source") as reading:
        await migrations.upgrade(target)
        async with command.opened(target) as writing:
            await _copy_rows(reading, writing, database.parse_url(source).render_as_string(hide_password=True))
            counted = [await store.read(copying.counts) for store in (reading, writing)]
            checked = [list(map(str, await store.read(books.run))) for store in (reading, writing)]
            await writing.write(copying.finish, await reading.read(database.largest_assigned_ids))
    return counted, checked


async def _copy_rows(reading: Storage, writing: Storage, source: str) -> None:
    """Copy each table after those that it refers to, and tell the progress on stderr."""
    positions = await writing.write(copying.begin, source)
    if positions is None:
        hint = "Name an empty one; an unfinished copy goes on only from the database that it began with."
        raise Failure("target_not_empty", "The target database already holds rows.", hint)
    totals = await reading.read(copying.counts)
    for table in copying.TABLES:
        at = positions.get(table.name, copying.Position())
        reported = at.rows
        while at.rows < totals[table.name]:
            rows = await reading.read(copying.read_chunk, table, at.last_key)
            if not rows:
                break
            at = await writing.write(copying.store_chunk, table, rows, at, source)
            if at.rows >= min(reported + 100_000, totals[table.name]):
                typer.echo(f"{table.name}: {at.rows:,} of {totals[table.name]:,} rows", err=True)
                reported = at.rows
