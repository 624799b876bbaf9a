"""`svc admin db` and `svc admin secrets`: migrate, check and distribute the database; encrypt its secrets anew."""

import asyncio
import os
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

import configuration
from cli import logs
from cli.admin import backup, command
from cli.integrator.output import Answer, Failure
from storage import Storage, migrations
from storage.checks import books
from storage.engine import citus, sealing
from storage.tables import metadata

# what is encrypted: one column of a table at most
_SEALED = {table.name: column for table in metadata.sorted_tables for column in table.c if "sealed" in column.name}
app = typer.Typer(no_args_is_help=True)
secrets_app = typer.Typer(no_args_is_help=True)


@command.register(app)
def upgrade() -> dict[str, Any]:
    """Migrate the database to this version's schema, and create it if it does not exist."""
    logs.configure()
    url = command.database_url()
    asyncio.run(migrations.upgrade(url, before=partial(backup.keep_copy, url)))
    return {"ok": True}


@command.register(app)
def check() -> Answer:
    """Recompute every rollup, ledger and unique key from the events; exit 1 if anything differs."""
    found = command.read(books.run)
    lacking = command.read(citus.missing_settings)
    lines = [f"[red]{escape(str(each))}[/]" for each in (*found, *lacking)]
    lines.append(f"{len(found)} differences." if found else "All totals match the events.")
    ok = not (found or lacking)
    shown = [difference._asdict() | {"message": str(difference)} for difference in found]
    return Answer({"ok": ok, "differences": shown} | ({"nodes": lacking} if lacking else {}), "\n".join(lines), ok=ok)


@command.register(app)
def distribute() -> Answer:
    """Distribute a PostgreSQL database over the workers of a Citus cluster, by program. Stop the service first."""
    logs.configure()
    done = command.run(_distribute)
    after = [*map(str, command.read(books.run)), *command.read(citus.missing_settings)]
    return backup.answer({"steps": done}, f"{done} steps were done. The database is distributed and checked.", after)


async def _distribute(store: Storage) -> int:
    """Run the steps that are left and return their number. Raises Failure if the books do not agree before."""
    steps = await store.read(citus.steps)
    is_begun = any(step.run is None for step in steps)
    if differences := [] if is_begun else await store.read(books.run):
        hint = "Nothing was changed. `svc admin db check` names each difference."
        raise Failure("books_differ", f"{len(differences)} totals do not match the events.", hint)
    done = 0
    for number, step in enumerate(steps, start=1):
        if step.run is not None:
            typer.echo(f"{number} of {len(steps)}: {step.title}", err=True)
            await store.write(step.run)
            done += 1
    return done


@command.register(secrets_app)
def rotate() -> Answer:
    """Encrypt every stored secret again: SVC_SECRET_KEY_OLD decrypts it, SVC_SECRET_KEY encrypts it."""
    new = configuration.load().secret_key
    if not new:
        raise Failure("secret_key_missing", "SVC_SECRET_KEY is not set.", "Set it to the new key.")
    old = os.environ.get(configuration.OLD_SECRET_KEY) or sealing.local_key(Path("svc.secret"))
    sealed = command.write(sealing.reseal, sealing.Sealer(new, old), _SEALED)
    counts = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in sealed.items())
    return Answer(sealed, f"These secrets are encrypted with the new key: {counts}.")
