"""`svc admin member`."""

from typing import Annotated, Any

import typer
from rich.markup import escape

import configuration
from cli.admin import command, options
from storage.access import accounts, members, second_factors, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.engine.audit import OPERATOR

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

    An account that exists keeps its password; the command says so.

    Example:
      svc admin member add --workspace 1 --email bo@example.com \\
        --role member --password-stdin < password.txt

    """
    with command.answering(as_json=as_json) as response:
        password_hash = options.password_hash(asked=password_stdin, email=email)
        user_id = command.write(
            workspaces.add_member, workspace, email=email, role=role, password_hash=password_hash, at=command.now()
        )
        kept = command.password_kept(user_id, password_hash, email=email)
        response({"user_id": user_id} | kept, f"{escape(email)} is {role} of workspace {workspace} (user {user_id}).")


@app.command()
def suspend(workspace: options.WorkspaceId, email: options.Email, as_json: options.Json = False) -> None:
    """Suspend a member, who is signed out with their next request.

    Example:
      svc admin member suspend --workspace 1 --email bo@example.com

    """
    with command.answering(as_json=as_json) as response:
        result = _change(workspace, email, status=MemberStatus.SUSPENDED)
        response(result, f"{escape(email)} is suspended from workspace {workspace}.")


@app.command()
def reactivate(workspace: options.WorkspaceId, email: options.Email, as_json: options.Json = False) -> None:
    """Let a suspended member in again.

    Example:
      svc admin member reactivate --workspace 1 --email bo@example.com

    """
    with command.answering(as_json=as_json) as response:
        result = _change(workspace, email, status=MemberStatus.ACTIVE)
        response(result, f"{escape(email)} is an active member of workspace {workspace}.")


@app.command("change-role")
def change_role(
    workspace: options.WorkspaceId,
    email: options.Email,
    role: Annotated[Role, typer.Option(help="Owners change programs and manage keys; members can only read.")],
    as_json: options.Json = False,
) -> None:
    """Change a member's role. To transfer ownership, make the new owner one first.

    Example:
      svc admin member change-role --workspace 1 --email bo@example.com --role owner

    """
    with command.answering(as_json=as_json) as response:
        result = _change(workspace, email, role=role)
        response(result, f"{escape(email)} is {role} of workspace {workspace}.")


@app.command()
def remove(workspace: options.WorkspaceId, email: options.Email, as_json: options.Json = False) -> None:
    """Remove a member from a workspace; the account stays.

    Example:
      svc admin member remove --workspace 1 --email bo@example.com

    """
    with command.answering(as_json=as_json) as response:
        user_id = command.read(members.find_member, workspace, email).user_id
        command.write(members.remove, workspace, user_id, actor=OPERATOR, at=command.now())
        response({"user_id": user_id}, f"{escape(email)} is no longer a member of workspace {workspace}.")


@app.command("set-password")
def set_password(
    email: options.Email, password_stdin: options.PasswordStdin = False, as_json: options.Json = False
) -> None:
    """Set an account's password and end its sessions.

    Example:
      svc admin member set-password --email bo@example.com --password-stdin < password.txt

    """
    with command.answering(as_json=as_json) as response:
        user_id = command.read(accounts.find_id, email)
        password_hash = options.password_hash(asked=password_stdin, email=email)
        ended = command.write(accounts.set_password, user_id, password_hash, actor=OPERATOR, at=command.now())
        result = {"user_id": user_id, "sessions_ended": ended}
        response(result, f"The password of {escape(email)} is set; {ended} sessions ended.")


@app.command("reset-link")
def reset_link(email: options.Email, as_json: options.Json = False) -> None:
    """Print a one-time link for setting a new password. It works for 24 hours and replaces an earlier link.

    Example:
      svc admin member reset-link --email bo@example.com

    """
    with command.answering(as_json=as_json) as response:
        user_id = command.read(accounts.find_id, email)
        made = command.write(accounts.create_reset_link, user_id, actor=OPERATOR, at=command.now())
        link = f"{configuration.load().base_url}/reset-password/{made.token}"
        result = {"user_id": user_id, "link": link, "expires_at": made.expires_at}
        response(result, f"Send this link to {escape(email)}. It works once, for 24 hours:\n{escape(link)}")


@app.command("reset-second-factor")
def reset_second_factor(email: options.Email, as_json: options.Json = False) -> None:
    """Turn an account's second factor off, for a person who lost the app and the recovery codes.

    Example:
      svc admin member reset-second-factor --email bo@example.com

    """
    with command.answering(as_json=as_json) as response:
        user_id = command.read(accounts.find_id, email)
        command.write(second_factors.disable, user_id, actor=OPERATOR, at=command.now())
        response({"user_id": user_id}, f"{escape(email)} signs in with the password alone.")


def _change(workspace: int, email: str, **values: Role | MemberStatus) -> dict[str, Any]:
    user_id = command.read(members.find_member, workspace, email).user_id
    command.write(members.change, workspace, user_id, **values, actor=OPERATOR, at=command.now())
    return {"user_id": user_id, **values}
