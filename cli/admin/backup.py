"""`svc admin backup` and `svc admin restore`: a verified copy of the database, and the way back."""

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy.engine import URL

from cli.admin import command
from cli.admin.command import CommandAnswer
from cli.integrator.output import Failure
from storage import migrations
from storage.checks import BookDifference, books
from storage.engine import database

_DUMP = "pg_dump --format=custom --file={file} {url}"
_LOAD = "pg_restore --clean --if-exists --single-transaction --dbname={url} {file}"
app = typer.Typer()
File = Annotated[Path, typer.Argument(help="The backup.", dir_okay=False)]


@command.register(app)
def backup(file: File) -> CommandAnswer:
    """Copy the SQLite database to a new file, also while the service runs, and check the copy.

    The copy is consistent: it holds every write that was acknowledged before the command started. Its mode is 0600.

    Example:
      svc admin backup /backups/svc-2027-01-31.db

    """
    path = _sqlite_file("pg_dump", _DUMP, file)
    command.require_file()
    if file.exists():
        raise Failure("file_exists", f"{file} exists.", "Name a new file.")
    partial = file.with_name(f".{file.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        _copy(path, partial)
        differences = _check(partial)
        partial.rename(file)
    finally:
        _remove(partial)
    result = {"file": str(file), "bytes": file.stat().st_size}
    return _answer(result, f"{file} is a copy of the database.", differences)


@command.register(app)
def restore(file: File) -> CommandAnswer:
    """Put a backup in the place of the SQLite database, once it is migrated and checked; stop the service first.

    The database that was there stays beside it, under a name that ends in .before-restore and the time.

    Example:
      svc admin restore /backups/svc-2027-01-31.db

    """
    path = _sqlite_file("pg_restore", _LOAD, file)
    if not file.is_file():
        raise Failure("file_missing", f"There is no file {file}.", "Name a backup.")
    with command.no_service(command.database_url()):
        partial = path.with_name(f".{path.name}.restoring")
        partial.unlink(missing_ok=True)
        try:
            _copy(file, partial)
            asyncio.run(migrations.upgrade(_url(partial)))
            differences = _check(partial)
            kept = _replace(partial, path)
        finally:
            _remove(partial)
    text = f"{path} is restored." + (f" The database before is {kept}." if kept else "")
    return _answer({"file": str(path), "kept": str(kept) if kept else None}, text, differences)


def _sqlite_file(program: str, example: str, file: Path) -> Path:
    url = database.parse_url(command.database_url())
    if database.is_sqlite(url):
        return database.file_of(url)
    shown = url.set(drivername="postgresql").render_as_string(hide_password=True)
    raise Failure(
        "use_postgresql_tools", f"For PostgreSQL use {program}.", f"Run: {example.format(file=file, url=shown)}"
    )


def _copy(source: Path, target: Path) -> None:
    """Copy one consistent state, as SQLite's online backup does."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as reading,
            closing(sqlite3.connect(target)) as writing,
        ):
            reading.backup(writing)
            writing.execute("PRAGMA journal_mode = DELETE")  # one file, which can be copied
    except sqlite3.Error as error:
        raise Failure("not_a_database", f"{source} cannot be read: {error}.", "Name another file.") from None


def _check(path: Path) -> list[BookDifference]:
    """Return what `svc admin db check` finds. Raises Failure if SQLite finds the file corrupt."""
    with closing(sqlite3.connect(path)) as connection:
        ((sound,), *_) = connection.execute("PRAGMA integrity_check").fetchall()
    if sound != "ok":
        raise Failure("database_corrupt", f"The database is corrupt: {sound}", "Use another backup.")
    return asyncio.run(_check_books(_url(path)))


async def _check_books(url: str) -> list[BookDifference]:
    async with command.opened(url) as store:
        return await store.read(books.run)


def _answer(result: dict[str, Any], text: str, differences: list[BookDifference]) -> CommandAnswer:
    """CommandAnswer; it is not ok if the books differ from the events, as `svc admin db check` says."""
    found = [str(each) for each in differences]
    result = {"ok": not found, **result, "differences": found}
    return CommandAnswer(result, "\n".join([text, *map(escape, found)]), ok=not found)


def _replace(partial: Path, path: Path) -> Path | None:
    """Put the new file in place and return where the old one is now, with the writes of its -wal file."""
    kept = path.with_name(f"{path.name}.before-restore-{command.now():%Y%m%dT%H%M%SZ}") if path.exists() else None
    if kept:
        for suffix in ("", "-wal", "-shm"):
            if (old := path.with_name(path.name + suffix)).exists():
                old.rename(kept.with_name(kept.name + suffix))
    partial.rename(path)
    return kept


def _remove(partial: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        partial.with_name(partial.name + suffix).unlink(missing_ok=True)


def _url(path: Path) -> str:
    return URL.create("sqlite+aiosqlite", database=str(path.absolute())).render_as_string()
