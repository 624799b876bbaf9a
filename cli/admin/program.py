"""`svc admin program`, `partner`, `program-key` and `agent-key`: programs, their partners and keys, and agent keys."""

from datetime import datetime
from typing import Annotated, Any

import typer

from cli.admin import command
from cli.admin.inputs import given, taking
from cli.integrator.output import Answer, Flag, described
from presentation import changes
from storage.access import agent_keys, program_keys
from storage.management import partners, program_settings
from storage.rules import settings
from storage.rules.keys import rotation_state
from storage.rules.scope import Scope
from storage.rules.settings import ProgramSettings

app, partners_app, keys_app, agent_keys_app = (typer.Typer(no_args_is_help=True) for _ in range(4))


@command.register(app)
@taking(changes.NewProgram, without="workspace_id")
def create(workspace: command.WorkspaceId, **sent: Any) -> dict[str, Any]:
    """Create a program with a hidden key; `program-key generate` shows a new one."""
    chosen = ProgramSettings(**settings.stored(given(changes.NewProgram, sent)))
    return {"program_id": command.change(program_settings.create, workspace, chosen)}


@command.register(partners_app, "create")
@taking(changes.NewPartner)
def add_partner(program: command.ProgramId, **sent: Any) -> dict[str, Any]:
    """Add a partner to a program."""
    made = command.change_in(partners.enrol, program, **given(changes.NewPartner, sent))
    return {"partner_id": made.id, "code": made.code}


@command.register(keys_app)
def generate(program: command.ProgramId) -> dict[str, Any]:
    """Replace a program's key and show the new one once; the old key stops at once."""
    new: program_keys.NewKey = command.change_in(program_keys.regenerate, program)
    return new._asdict()


@command.register(keys_app, "import")
def import_key(program: command.ProgramId, key_stdin: Flag = False) -> dict[str, Any]:
    """Import a program's older key, without the aff_ prefix, so that its integrations continue to work."""
    secret = command.secret(asked=key_stdin, option="--key-stdin", prompt="key")
    new = command.change_in(program_keys.import_key, program, secret)
    return {"program_id": program, "api_token_masked": new.api_token_masked}


@command.register(keys_app)
def flag(
    program: command.ProgramId, deadline: Annotated[datetime, typer.Option(parser=command.timestamp, metavar="TIME")]
) -> dict[str, Any]:
    """Flag a program's key for rotation; it stops working at the deadline."""
    at = command.now()
    command.change_in(program_keys.flag, program, rotate_by=deadline, at=at)
    return {"program_id": program, "flagged_at": at, "rotate_by": deadline, "state": rotation_state(deadline, at)}


@command.register(agent_keys_app)
def issue(
    workspace: command.WorkspaceId,
    name: command.Name,
    scope: Annotated[list[Scope], typer.Option(help="A scope of the key; repeat it for more.")],
    program: Annotated[list[int] | None, typer.Option(min=1)] = None,
    expires_at: Annotated[datetime | None, typer.Option(parser=command.timestamp, metavar="TIME")] = None,
) -> dict[str, Any]:
    """Issue a key for the agent API and the MCP server, and show it once."""
    about = {"name": name, "scopes": scope, "program_ids": program or (), "expires_at": expires_at}
    issued = command.write(agent_keys.issue, workspace, **about, at=command.now())
    return {"agent_key_id": issued.id, "api_key": issued.secret}


@command.register(agent_keys_app, "list")
def list_keys(workspace: Annotated[int | None, typer.Option(min=1)] = None) -> Answer:
    """List agent keys, masked."""
    found: list[agent_keys.AgentKey] = command.read(agent_keys.list_all, workspace_id=workspace)
    names = {"id": "agent_key_id", "masked": "api_key_masked"}
    keys = [{names.get(name, name): value for name, value in key._asdict().items()} for key in found]
    return Answer({"agent_keys": keys}, described(keys) or "No agent key has been issued.")


@command.register(agent_keys_app)
def revoke(agent_key_id: Annotated[int, typer.Argument(min=1, metavar="ID")]) -> dict[str, Any]:
    """Revoke an agent key, which stops at once."""
    revoked_at = command.write(agent_keys.revoke, agent_key_id, at=command.now())
    return {"agent_key_id": agent_key_id, "revoked_at": revoked_at}
