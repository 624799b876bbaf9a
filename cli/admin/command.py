"""The frame of every admin command: one operation on the database, then one result or one error."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

import configuration
import storage
from storage import migrations
from storage.access import accounts
from storage.engine import database
from storage.engine.failures import reason_of
from storage.rules.errors import NotFound, ServiceError, StorageUnavailable
from storage.tables import programs, workspaces

UPGRADE = "Run `svc admin db upgrade` with the same SVC_DATABASE_URL first."
Answer = Callable[[dict[str, Any], str], None]


class CommandError(Exception):
    """An error that stops a command before its operation."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, "hint": hint}


@contextmanager
def answering(*, as_json: bool) -> Iterator[Answer]:
    """Give a command its output: `answer(result, text)` prints one JSON object or the text.

    An error is printed to stderr (with --json also as the one object on stdout) and ends in exit code 1.
    """

    def answer(result: dict[str, Any], text: str) -> None:
        if as_json:
            typer.echo(json.dumps(result, default=_json))
        else:
            Console(highlight=False).print(text, soft_wrap=True, emoji=False)

    try:
        yield answer
    except (ServiceError, CommandError, migrations.UnknownSchemaError, ValueError, OSError, SQLAlchemyError) as problem:
        error = _error(problem)
        if as_json:
            typer.echo(json.dumps({"error": error}))
        _explain(error)
        raise typer.Exit(1) from None


def read(operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a read operation over the migrated database and return its result."""
    require_file()
    return asyncio.run(_run("read", operation, *arguments, **options))


def write(operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a write operation over the migrated database, commit it, and return its result."""
    require_file()
    return asyncio.run(_run("write", operation, *arguments, **options))


def password_kept(user_id: int, password_hash: str, *, email: str) -> dict[str, Any]:
    """Say that an account existed before and keeps its password: on stderr, and as `notice` of the JSON result."""
    if read(accounts.has_password, user_id, password_hash):
        return {}
    message = f"The account {email} existed before and keeps its password; the one that you gave is not used."
    notice = {"code": "password_kept", "message": message, "hint": "Set it: svc admin member set-password."}
    Console(stderr=True, highlight=False).print(f"[yellow]Note:[/] {escape(message)}", soft_wrap=True, emoji=False)
    return {"notice": notice}


def database_url() -> str:
    """Return the database of SVC_DATABASE_URL."""
    return configuration.load().database_url


def now() -> datetime:
    """Return the time of the command."""
    return datetime.now(UTC)


def require_workspace(connection: Connection, workspace_id: int) -> None:
    """Raise NotFound if the workspace does not exist."""
    if connection.execute(select(workspaces.c.id).where(workspaces.c.id == workspace_id)).scalar() is None:
        raise NotFound(f"There is no workspace {workspace_id}.", hint="Create one with `svc admin workspace create`.")


def require_program(connection: Connection, program_id: int) -> None:
    """Raise NotFound if the program does not exist."""
    if connection.execute(select(programs.c.id).where(programs.c.id == program_id)).scalar() is None:
        raise NotFound(f"There is no program {program_id}.", hint="Create one with `svc admin program create`.")


def require_file() -> None:
    """Raise CommandError if the SQLite file does not exist, because opening it would create an empty one."""
    address = database.parse_url(database_url())
    if database.is_sqlite(address) and not Path(str(address.database)).exists():
        raise CommandError("database_not_migrated", "There is no database yet.", UPGRADE)


async def _run(kind: str, operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    return await over_storage(lambda store: getattr(store, kind)(operation, *arguments, **options))


async def over_storage(work: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Run `work(storage, ...)` over the migrated database and return its result."""
    async with storage.opened(database_url(), patient=True) as store:
        try:
            current = await store.read(migrations.is_current)
        except Exception as problem:  # noqa: BLE001 - each driver has errors of its own; all of them mean this
            raise _unready(problem) from None
        if not current:
            raise CommandError("database_not_migrated", "The database is not at this version's schema.", UPGRADE)
        return await work(store, *arguments)


def _unready(problem: Exception) -> CommandError:
    """Return the error for an unreachable database or for one without tables."""
    reason = reason_of(problem)
    missing = ("no such table", "unable to open database file", 'relation "alembic_version" does not exist')
    if any(sign in reason for sign in missing):
        return CommandError("database_not_migrated", "The database has no tables yet.", UPGRADE)
    return CommandError("database_unreachable", f"The database cannot be reached: {reason}", "Check SVC_DATABASE_URL.")


def _error(problem: Exception) -> dict[str, Any]:
    if isinstance(problem, CommandError):
        error: dict[str, Any] = problem.error
    elif isinstance(problem, migrations.UnknownSchemaError):
        error = {"code": problem.code, "message": str(problem), "hint": problem.hint}
    elif isinstance(problem, StorageUnavailable):
        error = {"code": "database_error", "message": reason_of(problem)}
    elif isinstance(problem, ServiceError):
        error = {"code": problem.code, "message": problem.text}
        error |= {"hint": problem.advice} if problem.advice else {}
        error |= {"fields": [field._asdict() for field in problem.fields]} if problem.fields else {}
    elif isinstance(problem, SQLAlchemyError | OSError):
        error = {"code": "database_error", "message": reason_of(problem)}
    else:
        error = {"code": "validation_error", "message": str(problem)}
    return error


def _explain(error: dict[str, Any]) -> None:
    stderr = Console(stderr=True, highlight=False)
    stderr.print(f"[red]Error:[/] {escape(error['message'])}", soft_wrap=True, emoji=False)
    for field in error.get("fields", ()):
        stderr.print(f"  {escape(field['field'])}: {escape(field['message'])}", soft_wrap=True, emoji=False)
    if "hint" in error:
        stderr.print(escape(error["hint"]), soft_wrap=True, emoji=False)


def _json(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return str(value)
