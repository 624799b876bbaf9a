"""The frame of every admin command: one operation on the database, then one result or one error."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer
from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

import configuration
import storage
from cli.integrator.output import Failure, answering, warn
from storage import Storage, migrations
from storage.access import accounts
from storage.engine import database, database_file
from storage.engine.failures import reason_of
from storage.rules.errors import NotFound, ServiceError, StorageUnavailable
from storage.tables import programs, workspaces

UPGRADE = "Run `svc admin db upgrade` with the same SVC_DATABASE_URL first."
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


class CommandAnswer(NamedTuple):
    """What a command prints: one JSON object with --json, else the text; exit code 1 if it is not ok."""

    result: dict[str, Any]
    text: str
    ok: bool = True


def register(
    app: typer.Typer, name: str | None = None
) -> Callable[[Callable[..., CommandAnswer]], Callable[..., None]]:
    """Add a command to a group: a function that returns its answer. The command takes --json, too."""

    def add(work: Callable[..., CommandAnswer]) -> Callable[..., None]:
        @wraps(work)
        def printed(*arguments: Any, as_json: bool = False, **options: Any) -> None:
            with answering(as_json=as_json) as output, failures():
                answer = work(*arguments, **options)
                output.say(answer.text)
                output.result(answer.result)
            if not answer.ok:
                raise typer.Exit(1)

        json_option = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)
        signature = inspect.signature(work)
        parameters = [*signature.parameters.values(), json_option]
        printed.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads it
        app.command(name)(printed)
        return printed

    return add


@contextmanager
def failures() -> Iterator[None]:
    """Turn an error of the database, or of the values for it, into the Failure that ends the command."""
    try:
        yield
    except ServiceError as problem:
        is_outage = isinstance(problem, StorageUnavailable)
        code, message = ("database_error", reason_of(problem)) if is_outage else (problem.code, problem.text)
        fields: dict[str, Any] = {"fields": [each._asdict() for each in problem.fields]} if problem.fields else {}
        raise Failure(code, message, "" if is_outage else problem.advice or "", **fields) from None
    except migrations.UnknownSchemaError as problem:
        raise Failure(problem.code, str(problem), problem.hint) from None
    except (SQLAlchemyError, OSError) as problem:
        raise Failure("database_error", reason_of(problem)) from None
    except ValueError as problem:
        raise Failure("validation_error", str(problem)) from None


def read(operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a read operation over the migrated database and return its result."""
    return run(lambda store: store.read(operation, *arguments, **options))


def write(operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a write operation over the migrated database, commit it, and return its result."""
    return run(lambda store: store.write(operation, *arguments, **options))


def write_in(
    kind: Literal["program", "workspace"], operation: Callable[..., Any], row_id: int, *arguments: Any, **options: Any
) -> Any:
    """Run a write operation in a program or workspace. Raises NotFound if it does not exist."""
    table = {"program": programs, "workspace": workspaces}[kind]

    def existing(connection: Connection) -> Any:
        if connection.execute(select(table.c.id).where(table.c.id == row_id)).scalar() is None:
            raise NotFound(f"There is no {kind} {row_id}.", hint=f"Create one with `svc admin {kind} create`.")
        return operation(connection, row_id, *arguments, **options)

    return write(existing)


def run(work: Callable[[Storage], Awaitable[Any]]) -> Any:
    """Run `work(storage)` over the migrated database and return its result."""
    require_file()
    return asyncio.run(_run(work))


async def _run(work: Callable[[Storage], Awaitable[Any]]) -> Any:
    async with opened(database_url()) as store:
        return await work(store)


@asynccontextmanager
async def opened(url: str, name: str = "database") -> AsyncIterator[Storage]:
    """Open a database that is at this version's schema. Raises Failure for any other."""
    async with storage.opened(url, patient=True) as store:
        try:
            current = await store.read(migrations.is_current)
        except Exception as problem:  # noqa: BLE001 - each driver has errors of its own; all of them mean this
            raise _unready(problem) from None
        if not current:
            raise Failure("database_not_migrated", f"The {name} is not at this version's schema.", UPGRADE)
        yield store


def password_kept(user_id: int, password_hash: str, *, email: str) -> dict[str, Any]:
    """Say that an account existed before and keeps its password: on stderr, and as `notice` of the JSON result."""
    if read(accounts.has_password, user_id, password_hash):
        return {}
    message = f"The account {email} existed before and keeps its password; the one that you gave is not used."
    notice = {"code": "password_kept", "message": message, "hint": "Set it: svc admin member set-password."}
    warn(message, label="[yellow]Note[/]")
    return {"notice": notice}


def database_url() -> str:
    """Return the database of SVC_DATABASE_URL."""
    return configuration.load().database_url


def now() -> datetime:
    """Return the time of the command."""
    return datetime.now(UTC)


@contextmanager
def no_service(url: str) -> Iterator[None]:
    """Keep the service from starting on a SQLite file. Raises Failure if it runs."""
    parsed = database.parse_url(url)
    if not database.is_sqlite(parsed):
        yield
        return
    with database_file.hold_lock(database.file_of(parsed), alone=True) as held:
        if not held:
            raise Failure("service_running", f"A service runs on {parsed.database}.", "Stop it first.")
        yield


def require_file() -> None:
    """Raise Failure if the SQLite file does not exist, because opening it would create an empty one."""
    address = database.parse_url(database_url())
    if database.is_sqlite(address) and not Path(str(address.database)).exists():
        raise Failure("database_not_migrated", "There is no database yet.", UPGRADE)


def _unready(problem: Exception) -> Failure:
    """Return the error for an unreachable database or for one without tables."""
    reason = reason_of(problem)
    missing = ("no such table", "unable to open database file", 'relation "alembic_version" does not exist')
    if any(sign in reason for sign in missing):
        return Failure("database_not_migrated", "The database has no tables yet.", UPGRADE)
    return Failure("database_unreachable", f"The database cannot be reached: {reason}", "Check SVC_DATABASE_URL.")
