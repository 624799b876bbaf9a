"""`svc admin db distribute`: a PostgreSQL database becomes one of a Citus cluster, with its rows."""

import asyncio
from typing import Any

import typer
from rich.markup import escape

import storage
from cli import logs
from cli.admin import command, options
from cli.admin.command import CommandError
from storage import Storage, migrations
from storage.checks import books
from storage.engine import distribution, node_settings


def distribute(as_json: options.Json = False) -> None:
    """Distribute a PostgreSQL database over the workers of a Citus cluster, by program. Stop the service first.

    Each step is a transaction of its own: after an interruption, the same command goes on where it stopped. The books
    are checked before and after as `svc admin db check` does; exit 1 if anything differs.

    Example:
      SVC_DATABASE_URL=postgresql+asyncpg://svc@coordinator/svc svc admin db distribute

    """
    with command.answering(as_json=as_json) as answer:
        logs.configure()
        result = asyncio.run(_distribute(command.database_url()))
        found = [f"[red]{escape(each)}[/]" for each in result["differences"]]
        verdict = f"{result['steps']} steps were done. The database is distributed, and all totals match the events."
        answer(result, "\n".join(found) or verdict)
        if not result["ok"]:
            raise typer.Exit(1)


async def _distribute(url: str) -> dict[str, Any]:
    try:
        async with storage.opened(url, patient=True) as store:
            await _require(store)
            done = await _run_steps(store)
        async with storage.opened(url, patient=True) as store:
            after = [str(difference) for difference in await store.read(books.run)]
            after += await store.read(node_settings.missing)
    except distribution.NotPossibleError as problem:
        raise CommandError("cannot_distribute", str(problem), problem.hint) from None
    return {"ok": not after, "steps": done, "differences": after}


async def _require(store: Storage) -> None:
    """Raise an error where the database cannot be distributed, or its books do not agree before."""
    if not await store.read(migrations.is_current):
        raise CommandError("database_not_migrated", "The database is not at this version's schema.", command.UPGRADE)
    steps = await store.read(distribution.steps)
    is_begun = any(step.run is None for step in steps)
    differences = [] if is_begun else await store.read(books.run)
    if differences:
        hint = "Nothing was changed. `svc admin db check` names each difference."
        raise CommandError("books_differ", f"{len(differences)} totals do not match the events.", hint)


async def _run_steps(store: Storage) -> int:
    steps = await store.read(distribution.steps)
    done = 0
    for n, step in enumerate(steps, start=1):
        if step.run is not None:
            typer.echo(f"{n} of {len(steps)}: {step.title}", err=True)
            await store.write(step.run)
            done += 1
    return done
