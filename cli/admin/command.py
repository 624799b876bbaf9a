"""The frame of every admin command: its options, one operation on the database, then one result or one error."""

import asyncio
import getpass
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, date, datetime, time
from functools import partial
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, select
from sqlalchemy.exc import SQLAlchemyError

import configuration
import storage
from cli.integrator import output
from cli.integrator.output import Failure
from presentation import changes, settings_models
from storage import Storage, migrations
from storage.engine import database, sqlite_file
from storage.engine.audit import OPERATOR, By
from storage.engine.citus import NotPossibleError
from storage.engine.failures import reason_of
from storage.engine.sealing import UnreadableSecretError
from storage.rules.errors import NotFound, ServiceError, StorageUnavailable
from storage.tables import programs
from web import app

_LARGEST_ID = 2**31 - 1
now = app.now
NO_TABLES = ("no such table", "unable to open database file", 'relation "alembic_version" does not exist')
UPGRADE = "Run `svc admin db upgrade` with the same SVC_DATABASE_URL first."


@contextmanager
def failures() -> Iterator[None]:
    """Turn an error of the database, or of the values for it, into the Failure that ends the command."""
    try:
        yield
    except (StorageUnavailable, SQLAlchemyError, OSError) as problem:
        raise Failure("database_error", reason_of(problem)) from None
    except ServiceError as problem:
        fields: dict[str, Any] = {"fields": [each._asdict() for each in problem.fields]} if problem.fields else {}
        raise Failure(problem.code, problem.text, problem.advice or "", **fields) from None
    except (migrations.UnknownSchemaError, NotPossibleError, UnreadableSecretError) as problem:
        raise Failure(problem.code, str(problem), problem.hint) from None
    except ValueError as problem:
        raise Failure("validation_error", str(problem)) from None


register = partial(output.command, guard=failures)


def read(operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a read operation over the migrated database and return its result."""
    return run(lambda store: store.read(operation, *arguments, **options))


def write(operation: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Run a write operation over the migrated database, commit it, and return its result."""
    return run(lambda store: store.write(operation, *arguments, **options))


def change(operation: Callable[..., Any], *arguments: Any, at: datetime | None = None, **options: Any) -> Any:
    """Run a write operation as the operator."""
    return write(operation, *arguments, **options, by=By(OPERATOR, at or now()))


def change_in(operation: Callable[..., Any], program_id: int, *arguments: Any, **options: Any) -> Any:
    """Run a write operation in a program as the operator. Raises NotFound if it does not exist."""

    def existing(connection: Connection, **options: Any) -> Any:
        require_program(connection, program_id)
        return operation(connection, program_id, *arguments, **options)

    return change(existing, **options)


def require_program(connection: Connection, program_id: int) -> None:
    """Raise NotFound if the program does not exist."""
    if connection.execute(select(programs.c.id).where(programs.c.id == program_id)).scalar() is None:
        raise NotFound(f"There is no program {program_id}.", hint="Create one with `svc admin program create`.")


def run(work: Callable[[Storage], Awaitable[Any]]) -> Any:
    """Run `work(storage)` over the migrated database of SVC_DATABASE_URL, and return its result."""
    url = database_url()
    require_file(url)

    async def over_storage() -> Any:
        async with opened(url) as store:
            return await work(store)

    return asyncio.run(over_storage())


@asynccontextmanager
async def opened(url: str, name: str = "database") -> AsyncIterator[Storage]:
    """Open a database that is at this version's schema. Raises Failure for any other."""
    async with storage.opened(url, patient=True) as store:
        try:
            is_current = await store.read(migrations.is_current)
        except Exception as problem:  # noqa: BLE001 - each driver has errors of its own; all of them mean this
            reason = reason_of(problem)
            if any(sign in reason for sign in NO_TABLES):
                raise Failure("database_not_migrated", "The database has no tables yet.", UPGRADE) from None
            message = f"The database cannot be reached: {reason}"
            raise Failure("database_unreachable", message, "Check SVC_DATABASE_URL.") from None
        if not is_current:
            raise Failure("database_not_migrated", f"The {name} is not at this version's schema.", UPGRADE)
        yield store


def database_url() -> str:
    """Return the database of SVC_DATABASE_URL."""
    return configuration.load().database_url


@contextmanager
def no_service(url: str) -> Iterator[None]:
    """Keep the service from starting on a SQLite file. Raises Failure if it runs."""
    parsed = database.parse_url(url)
    if not database.is_sqlite(parsed):
        yield
        return
    with sqlite_file.hold_lock(database.file_of(parsed), alone=True) as held:
        if not held:
            raise Failure("service_running", f"A service runs on {parsed.database}.", "Stop it first.")
        yield


def require_file(url: str) -> None:
    """Raise Failure if the SQLite file does not exist, because opening it would create an empty one."""
    parsed = database.parse_url(url)
    if database.is_sqlite(parsed) and not database.file_of(parsed).exists():
        raise Failure("database_not_migrated", "There is no database yet.", UPGRADE)


def _of(kind: Any) -> Callable[[str], Any]:

    def parse(value: str) -> Any:
        try:
            return TypeAdapter(kind).validate_python(value.strip())
        except ValidationError as wrong:
            raise typer.BadParameter(wrong.errors()[0]["msg"].removeprefix("Value error, ")) from None

    return parse


name, email = map(_of, (settings_models.Name, changes.Email))


def timestamp(value: str) -> datetime:
    """Return an ISO 8601 time with its zone as UTC; a date alone is that day 00:00 UTC."""
    with suppress(ValueError):
        return datetime.combine(date.fromisoformat(value), time(), UTC)
    with suppress(ValueError, OverflowError):
        at = datetime.fromisoformat(value)
        if at.tzinfo is not None:
            return at.astimezone(UTC)
    raise typer.BadParameter("Write ISO 8601 with a time zone, such as 2027-01-31T12:00:00Z, or only a date")


def secret(*, asked: bool, option: str, prompt: str) -> str:
    """Return the secret from standard input; arguments would be visible in process lists."""
    if not asked:
        raise typer.BadParameter(f"Give the {prompt} on standard input and add {option}", param_hint=option)
    if sys.stdin.isatty():
        return getpass.getpass(f"{prompt.capitalize()}: ")
    return sys.stdin.read().rstrip("\r\n")


PasswordStdin = Annotated[bool, typer.Option("--password-stdin", help="Read the password from standard input.")]
WorkspaceId = Annotated[int, typer.Option("--workspace", min=1, max=_LARGEST_ID, help="The workspace's id.")]
ProgramId = Annotated[int, typer.Option("--program", min=1, max=_LARGEST_ID, help="The program's id.")]
Email = Annotated[str, typer.Option("--email", parser=email, metavar="EMAIL", help="An e-mail address.")]
Name = Annotated[str, typer.Option("--name", parser=name, metavar="NAME", help="Its name.")]
