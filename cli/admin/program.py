"""`svc admin program`."""

from datetime import datetime
from typing import Annotated

import typer
from rich.markup import escape
from sqlalchemy import Connection

from cli.admin import command, options
from storage.engine.audit import OPERATOR
from storage.management import program_settings
from storage.rules.settings import ProgramSettings
from storage.rules.settlement import LeadAuthPolicy

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `program create` a command of two words."""


@app.command()
def create(
    workspace: options.WorkspaceId,
    name: options.Name,
    domain: Annotated[str, typer.Option(parser=options.domain, metavar="DOMAIN", help="Such as example.com.")],
    commission_rate: Annotated[
        int, typer.Option(parser=options.percent, metavar="PERCENT", help="Of each sale, up to two decimals.")
    ] = "20",  # type: ignore[assignment] # typer parses a default as it parses an argument
    lead_auth_policy: Annotated[
        LeadAuthPolicy, typer.Option(help="Whether a browser alone can settle a lead.")
    ] = LeadAuthPolicy.SERVER_REQUIRED,
    as_json: options.Json = False,
) -> None:
    r"""Create a program with a hidden key; `program-key generate` shows a new one.

    Example:
      svc admin program create --workspace 1 --name "Acme Partners" \\
        --domain acme.example --commission-rate 12.5

    """
    with command.answering(as_json=as_json) as response:
        settings = ProgramSettings(name=name, domain=domain, rate=commission_rate, lead_auth_policy=lead_auth_policy)
        program_id = command.write(_create, workspace, settings, at=command.now())
        shown = f"Program {program_id} ({escape(name)}) is created.\n"
        response({"program_id": program_id}, f"{shown}Next: svc admin program-key generate --program {program_id}")


def _create(connection: Connection, workspace_id: int, settings: ProgramSettings, *, at: datetime) -> int:
    command.require_workspace(connection, workspace_id)
    return program_settings.create(connection, workspace_id, settings, at=at, actor=OPERATOR)
