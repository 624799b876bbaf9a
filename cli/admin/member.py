"""`svc admin member`."""

from typing import Annotated

import typer
from rich.markup import escape

from cli.admin import command, options
from storage.access import workspaces
from storage.access.workspaces import MemberStatus, Role

app = typer.Typer(no_args_is_help=True)


@app.command()
def add(
    workspace: options.WorkspaceId,
    email: options.Email,
    role: Annotated[Role, typer.Option(help="Owners change programs and manage keys; members can only read.")],
    password_stdin: options.PasswordStdin = False,
    as_json: options.Json = False,
) -> None:
    r"""Add a member to a workspace.

    An account that exists keeps its password.

    Example:
      svc admin member add --workspace 1 --email bo@example.com \\
        --role member --password-stdin < password.txt

    """
    with command.answering(as_json=as_json) as response:
        password_hash = options.password_hash(asked=password_stdin)
        user_id = command.write(
            workspaces.add_member, workspace, email=email, role=role, password_hash=password_hash, at=command.now()
        )
        response({"user_id": user_id}, f"{escape(email)} is {role} of workspace {workspace} (user {user_id}).")


@app.command()
def suspend(
    workspace: options.WorkspaceId,
    email: options.Email,
    as_json: options.Json = False,
) -> None:
    """Suspend a member, who is signed out with their next request.

    Example:
      svc admin member suspend --workspace 1 --email bo@example.com

    """
    with command.answering(as_json=as_json) as response:
        user_id = command.write(workspaces.suspend, workspace, email=email)
        result = {"user_id": user_id, "status": MemberStatus.SUSPENDED}
        response(result, f"{escape(email)} is suspended from workspace {workspace}.")
