"""`svc admin agent-key`."""

from datetime import datetime
from typing import Annotated

import typer
from rich.markup import escape

from cli.admin import command, options
from cli.integrator.output import Answer
from storage.access import agent_keys
from storage.access.agent_keys import AgentKey
from storage.rules.scope import Scope

app = typer.Typer(no_args_is_help=True)


@command.register(app)
def issue(
    workspace: options.WorkspaceId,
    name: options.Name,
    scope: Annotated[list[Scope], typer.Option(help="A scope of the key; repeat it for more.")],
    program: Annotated[
        list[int] | None, typer.Option(min=1, help="Limit the key to this program; repeat it for more.")
    ] = None,
    expires_at: Annotated[
        datetime | None, typer.Option(parser=options.timestamp, metavar="TIME", help="ISO 8601 with a time zone.")
    ] = None,
) -> Answer:
    r"""Issue a key for the agent API and the MCP server, and show it once.

    Example:
      svc admin agent-key issue --workspace 1 --name "Weekly report" \\
        --scope programs:read --scope performance:read --expires-at 2027-06-30

    """
    about = {"name": name, "scopes": scope, "program_ids": program or (), "expires_at": expires_at}
    issued = command.write(agent_keys.issue, workspace, **about, at=command.now())
    text = f"{issued.secret}\nThis is agent key {issued.id} ({escape(name)}). It is not shown again."
    return Answer({"agent_key_id": issued.id, "api_key": issued.secret}, text)


@command.register(app, "list")
def list_keys(
    workspace: Annotated[int | None, typer.Option(min=1, help="Only keys of this workspace.")] = None,
) -> Answer:
    """List agent keys, masked.

    Example: svc admin agent-key list --workspace 1
    """
    found: list[AgentKey] = command.read(agent_keys.list_all, workspace_id=workspace)
    keys = [{"agent_key_id": key.id, "api_key_masked": key.masked, **key._asdict()} for key in found]
    for key in keys:
        del key["id"], key["masked"]
    return Answer({"agent_keys": keys}, "\n".join(map(_line, found)) or "No agent key has been issued.")


def _line(key: AgentKey) -> str:
    reach = "all programs" if key.program_ids is None else f"programs {', '.join(map(str, key.program_ids))}"
    until = f", expires {key.expires_at:%Y-%m-%d %H:%M} UTC" if key.expires_at else ""
    ended = ", [red]revoked[/]" if key.revoked_at else ""
    scopes = " ".join(key.scopes)
    return f"{key.id}  {key.masked}  {escape(key.name)}  workspace {key.workspace_id}, {reach}: {scopes}{until}{ended}"


@command.register(app)
def revoke(
    agent_key_id: Annotated[int, typer.Argument(min=1, metavar="ID", help="The key's id, as `list` shows it.")],
) -> Answer:
    """Revoke an agent key, which stops at once.

    Example: svc admin agent-key revoke 3
    """
    revoked_at = command.write(agent_keys.revoke, agent_key_id, at=command.now())
    return Answer({"agent_key_id": agent_key_id, "revoked_at": revoked_at}, f"Agent key {agent_key_id} is revoked.")
