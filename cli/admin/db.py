"""`svc admin db`: migrate the database, check its books, distribute it over a Citus cluster."""

import asyncio
from typing import Any

import typer
from rich.markup import escape

from cli import logs
from cli.admin import command
from cli.admin.command import CommandAnswer
from cli.integrator.output import Failure
from storage import Storage, migrations
from storage.checks import books
from storage.engine import citus

app = typer.Typer(no_args_is_help=True)


@command.register(app)
def upgrade() -> CommandAnswer:
    """Migrate the database to this version's schema, and create it if it does not exist.

    Example:
      SVC_DATABASE_URL=sqlite+aiosqlite:///svc.db svc admin db upgrade

    """
    logs.configure()
    asyncio.run(migrations.upgrade(command.database_url()))
    return CommandAnswer({"ok": True}, "The database is at this version's schema.")


@command.register(app)
def check() -> CommandAnswer:
    """Recompute every rollup, ledger and unique key from the events; exit 1 if anything differs.

    It only reads, and may run while the service serves.

    Example:
      svc admin db check --json

    """
    found, lacking = command.read(books.run), command.read(citus.missing_settings)
    lines = [f"[red]{escape(str(each))}[/]" for each in (*found, *lacking)]
    shown = [difference._asdict() | {"message": str(difference)} for difference in found]
    verdict = f"{len(found)} differences." if found else "All totals match the events."
    result = {"ok": not (found or lacking), "differences": shown} | ({"nodes": lacking} if lacking else {})
    return CommandAnswer(result, "\n".join([*lines, verdict]), ok=not (found or lacking))


@command.register(app)
def distribute() -> CommandAnswer:
    """Distribute a PostgreSQL database over the workers of a Citus cluster, by program. Stop the service first.

    Each step is a transaction of its own: after an interruption, the same command goes on where it stopped. The books
    are checked before and after as `svc admin db check` does; exit 1 if anything differs.

    Example:
      SVC_DATABASE_URL=postgresql+asyncpg://svc@coordinator/svc svc admin db distribute

    """
    logs.configure()
    result = asyncio.run(_distribute(command.database_url()))
    found = [f"[red]{escape(each)}[/]" for each in result["differences"]]
    verdict = f"{result['steps']} steps were done. The database is distributed, and all totals match the events."
    return CommandAnswer(result, "\n".join(found) or verdict, ok=result["ok"])


async def _distribute(url: str) -> dict[str, Any]:
    try:
        async with command.opened(url) as store:
            await _require(store)
            done = await _run_steps(store)
        async with command.opened(url) as store:
            after = [str(difference) for difference in await store.read(books.run)]
            after += await store.read(citus.missing_settings)
    except citus.NotPossibleError as problem:
        raise Failure("cannot_distribute", str(problem), problem.hint) from None
    return {"ok": not after, "steps": done, "differences": after}


async def _require(store: Storage) -> None:
    """Raise an error where the database cannot be distributed, or its books do not agree before."""
    steps = await store.read(citus.steps)
    is_begun = any(step.run is None for step in steps)
    differences = [] if is_begun else await store.read(books.run)
    if differences:
        hint = "Nothing was changed. `svc admin db check` names each difference."
        raise Failure("books_differ", f"{len(differences)} totals do not match the events.", hint)


async def _run_steps(store: Storage) -> int:
    steps = await store.read(citus.steps)
    done = 0
    for n, step in enumerate(steps, start=1):
        if step.run is not None:
            typer.echo(f"{n} of {len(steps)}: {step.title}", err=True)
            await store.write(step.run)
            done += 1
    return done
