"""`svc admin workspace` and `svc admin member`: workspaces, and who may sign in to them."""

from typing import Annotated, Any

import typer
from rich.markup import escape

import configuration
from cli.admin import command, options
from cli.integrator.output import Answer, warn
from storage.access import accounts, members, second_factors, workspaces
from storage.access.workspaces import MemberStatus, Role

app, members_app = typer.Typer(no_args_is_help=True), typer.Typer(no_args_is_help=True)
MemberRole = Annotated[Role, typer.Option(help="Owners change programs and manage keys; members can only read.")]


@command.register(app)
def create(
    name: Annotated[str, typer.Argument(parser=options.name, metavar="NAME", help="Its name.")],
    owner_email: Annotated[str, typer.Option("--owner-email", parser=options.email, metavar="EMAIL")],
    password_stdin: options.PasswordStdin = False,
) -> Answer:
    r"""Create a workspace with its owner.

    An account that exists gains the workspace and keeps its password; the command says so.

    Example:
      svc admin workspace create Acme --owner-email ada@example.com \\
        --password-stdin < password.txt

    """
    new = {"owner_email": owner_email, "password_hash": options.password_hash(asked=password_stdin, email=owner_email)}
    created = command.write(workspaces.create, name, **new, at=command.now())
    kept = _password_kept(created.user_id, new["password_hash"], owner_email)
    text = f"Workspace {created.workspace_id} ({escape(name)}) is owned by {escape(owner_email)}."
    return Answer(created._asdict() | kept, text)


@command.register(members_app)
def add(
    workspace: options.WorkspaceId,
    email: options.Email,
    role: MemberRole,
    password_stdin: options.PasswordStdin = False,
) -> Answer:
    r"""Add a member to a workspace.

    An account that exists keeps its password; the command says so.

    Example:
      svc admin member add --workspace 1 --email bo@example.com \\
        --role member --password-stdin < password.txt

    """
    new = {"email": email, "role": role}
    password_hash = options.password_hash(asked=password_stdin, email=email)
    user_id = command.write(workspaces.add_member, workspace, **new, password_hash=password_hash, at=command.now())
    kept = _password_kept(user_id, password_hash, email)
    return Answer({"user_id": user_id} | kept, f"{escape(email)} is {role} of workspace {workspace} (user {user_id}).")


def _password_kept(user_id: int, password_hash: str, email: str) -> dict[str, Any]:
    """Say that an account existed before and keeps its password: on stderr, and as `notice` of the JSON result."""
    if command.read(accounts.has_password, user_id, password_hash):
        return {}
    message = f"The account {email} existed before and keeps its password; the one that you gave is not used."
    warn(message, label="[yellow]Note[/]")
    hint = "Set it: svc admin member set-password."
    return {"notice": {"code": "password_kept", "message": message, "hint": hint}}


@command.register(members_app)
def suspend(workspace: options.WorkspaceId, email: options.Email) -> Answer:
    """Suspend a member, who is signed out with their next request.

    Example: svc admin member suspend --workspace 1 --email bo@example.com
    """
    result = _change(workspace, email, status=MemberStatus.SUSPENDED)
    return Answer(result, f"{escape(email)} is suspended from workspace {workspace}.")


@command.register(members_app)
def reactivate(workspace: options.WorkspaceId, email: options.Email) -> Answer:
    """Let a suspended member in again.

    Example: svc admin member reactivate --workspace 1 --email bo@example.com
    """
    result = _change(workspace, email, status=MemberStatus.ACTIVE)
    return Answer(result, f"{escape(email)} is an active member of workspace {workspace}.")


@command.register(members_app, "change-role")
def change_role(workspace: options.WorkspaceId, email: options.Email, role: MemberRole) -> Answer:
    """Change a member's role. To transfer ownership, make the new owner one first.

    Example: svc admin member change-role --workspace 1 --email bo@example.com --role owner
    """
    return Answer(_change(workspace, email, role=role), f"{escape(email)} is {role} of workspace {workspace}.")


def _change(workspace: int, email: str, **values: Any) -> dict[str, Any]:
    user_id = command.read(members.find_member, workspace, email).user_id
    command.change(members.change, workspace, user_id, **values)
    return {"user_id": user_id, **values}


@command.register(members_app)
def remove(workspace: options.WorkspaceId, email: options.Email) -> Answer:
    """Remove a member from a workspace; the account stays.

    Example: svc admin member remove --workspace 1 --email bo@example.com
    """
    user_id = command.read(members.find_member, workspace, email).user_id
    command.change(members.remove, workspace, user_id)
    return Answer({"user_id": user_id}, f"{escape(email)} is no longer a member of workspace {workspace}.")


@command.register(members_app, "set-password")
def set_password(email: options.Email, password_stdin: options.PasswordStdin = False) -> Answer:
    """Set an account's password and end its sessions.

    Example: svc admin member set-password --email bo@example.com --password-stdin < password.txt
    """
    user_id = command.read(accounts.find_id, email)
    password_hash = options.password_hash(asked=password_stdin, email=email)
    ended = command.change(accounts.set_password, user_id, password_hash)
    text = f"The password of {escape(email)} is set; {ended} sessions ended."
    return Answer({"user_id": user_id, "sessions_ended": ended}, text)


@command.register(members_app, "reset-link")
def reset_link(email: options.Email) -> Answer:
    """Print a one-time link for setting a new password. It works for 24 hours and replaces an earlier link.

    Example: svc admin member reset-link --email bo@example.com
    """
    user_id = command.read(accounts.find_id, email)
    made = command.change(accounts.create_reset_link, user_id)
    link = f"{configuration.load().base_url}/reset-password/{made.token}"
    text = f"Send this link to {escape(email)}. It works once, for 24 hours:\n{escape(link)}"
    return Answer({"user_id": user_id, "link": link, "expires_at": made.expires_at}, text)


@command.register(members_app, "reset-second-factor")
def reset_second_factor(email: options.Email) -> Answer:
    """Turn an account's second factor off, for a person who lost the app and the recovery codes.

    Example: svc admin member reset-second-factor --email bo@example.com
    """
    user_id = command.read(accounts.find_id, email)
    command.change(second_factors.disable, user_id)
    return Answer({"user_id": user_id}, f"{escape(email)} signs in with the password alone.")
