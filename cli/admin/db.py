"""`svc admin db`."""

import asyncio

import typer
from rich.markup import escape

from cli import logs
from cli.admin import command, options
from cli.admin.distribute import distribute
from storage import migrations
from storage.checks import books as stored
from storage.engine import node_settings

app = typer.Typer(no_args_is_help=True)
app.command()(distribute)


@app.command()
def upgrade(
    as_json: options.Json = False,
) -> None:
    """Migrate the database to this version's schema, and create it if it does not exist.

    Example:
      SVC_DATABASE_URL=sqlite+aiosqlite:///svc.db svc admin db upgrade

    """
    with command.answering(as_json=as_json) as response:
        logs.configure()
        asyncio.run(migrations.upgrade(command.database_url()))
        response({"ok": True}, "The database is at this version's schema.")


@app.command()
def check(
    as_json: options.Json = False,
) -> None:
    """Recompute every rollup, ledger and unique key from the events; exit 1 if anything differs.

    It only reads, and may run while the service serves.

    Example:
      svc admin db check --json

    """
    with command.answering(as_json=as_json) as response:
        found, lacking = command.read(stored.run), command.read(node_settings.missing)
        lines = [f"[red]{escape(str(each))}[/]" for each in (*found, *lacking)]
        shown = [difference._asdict() | {"message": str(difference)} for difference in found]
        verdict = f"{len(found)} differences." if found else "All totals match the events."
        result = {"ok": not (found or lacking), "differences": shown} | ({"nodes": lacking} if lacking else {})
        response(result, "\n".join([*lines, verdict]))
        if found or lacking:
            raise typer.Exit(1)
