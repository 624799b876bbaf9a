"""`svc admin workspace` and `svc admin member`: workspaces, and who may sign in to them."""

from typing import Annotated, Any

import typer
from rich.markup import escape

import configuration
from cli.admin import command, options
from cli.admin.command import CommandAnswer
from storage.access import accounts, members, second_factors, workspaces
from storage.access.workspaces import MemberStatus, Role
from storage.engine.audit import OPERATOR

app, members_app = typer.Typer(no_args_is_help=True), typer.Typer(no_args_is_help=True)
MemberRole = Annotated[Role, typer.Option(help="Owners change programs and manage keys; members can only read.")]


@command.register(app)
def create(
    name: Annotated[str, typer.Argument(parser=options.text, metavar="NAME", help="Its name.")],
    owner_email: Annotated[str, typer.Option("--owner-email", parser=options.email, metavar="EMAIL")],
    password_stdin: options.PasswordStdin = False,
) -> CommandAnswer:
    r"""Create a workspace with its owner.

    An account that exists gains the workspace and keeps its password; the command says so.

    Example:
      svc admin workspace create Acme --owner-email ada@example.com \\
        --password-stdin < password.txt

    """
    password_hash = options.password_hash(asked=password_stdin, email=owner_email)
    created = command.write(
        workspaces.create, name, owner_email=owner_email, password_hash=password_hash, at=command.now()
    )
    text = f"Workspace {created.workspace_id} ({escape(name)}) is owned by {escape(owner_email)}."
    kept = command.password_kept(created.user_id, password_hash, email=owner_email)
    return CommandAnswer(created._asdict() | kept, text)


@command.register(members_app)
def add(
    workspace: options.WorkspaceId,
    email: options.Email,
    role: MemberRole,
    password_stdin: options.PasswordStdin = False,
) -> CommandAnswer:
    r"""Add a member to a workspace.

    An account that exists keeps its password; the command says so.

    Example:
      svc admin member add --workspace 1 --email bo@example.com \\
        --role member --password-stdin < password.txt

    """
    password_hash = options.password_hash(asked=password_stdin, email=email)
    user_id = command.write(
        workspaces.add_member, workspace, email=email, role=role, password_hash=password_hash, at=command.now()
    )
    kept = command.password_kept(user_id, password_hash, email=email)
    return CommandAnswer(
        {"user_id": user_id} | kept, f"{escape(email)} is {role} of workspace {workspace} (user {user_id})."
    )


@command.register(members_app)
def suspend(workspace: options.WorkspaceId, email: options.Email) -> CommandAnswer:
    """Suspend a member, who is signed out with their next request.

    Example:
      svc admin member suspend --workspace 1 --email bo@example.com

    """
    result = _change(workspace, email, status=MemberStatus.SUSPENDED)
    return CommandAnswer(result, f"{escape(email)} is suspended from workspace {workspace}.")


@command.register(members_app)
def reactivate(workspace: options.WorkspaceId, email: options.Email) -> CommandAnswer:
    """Let a suspended member in again.

    Example:
      svc admin member reactivate --workspace 1 --email bo@example.com

    """
    result = _change(workspace, email, status=MemberStatus.ACTIVE)
    return CommandAnswer(result, f"{escape(email)} is an active member of workspace {workspace}.")


@command.register(members_app, "change-role")
def change_role(
    workspace: options.WorkspaceId,
    email: options.Email,
    role: MemberRole,
) -> CommandAnswer:
    """Change a member's role. To transfer ownership, make the new owner one first.

    Example:
      svc admin member change-role --workspace 1 --email bo@example.com --role owner

    """
    result = _change(workspace, email, role=role)
    return CommandAnswer(result, f"{escape(email)} is {role} of workspace {workspace}.")


@command.register(members_app)
def remove(workspace: options.WorkspaceId, email: options.Email) -> CommandAnswer:
    """Remove a member from a workspace; the account stays.

    Example:
      svc admin member remove --workspace 1 --email bo@example.com

    """
    user_id = command.read(members.find_member, workspace, email).user_id
    command.write(members.remove, workspace, user_id, actor=OPERATOR, at=command.now())
    return CommandAnswer({"user_id": user_id}, f"{escape(email)} is no longer a member of workspace {workspace}.")


@command.register(members_app, "set-password")
def set_password(email: options.Email, password_stdin: options.PasswordStdin = False) -> CommandAnswer:
    """Set an account's password and end its sessions.

    Example:
      svc admin member set-password --email bo@example.com --password-stdin < password.txt

    """
    user_id = command.read(accounts.find_id, email)
    password_hash = options.password_hash(asked=password_stdin, email=email)
    ended = command.write(accounts.set_password, user_id, password_hash, actor=OPERATOR, at=command.now())
    result = {"user_id": user_id, "sessions_ended": ended}
    return CommandAnswer(result, f"The password of {escape(email)} is set; {ended} sessions ended.")


@command.register(members_app, "reset-link")
def reset_link(email: options.Email) -> CommandAnswer:
    """Print a one-time link for setting a new password. It works for 24 hours and replaces an earlier link.

    Example:
      svc admin member reset-link --email bo@example.com

    """
    user_id = command.read(accounts.find_id, email)
    made = command.write(accounts.create_reset_link, user_id, actor=OPERATOR, at=command.now())
    link = f"{configuration.load().base_url}/reset-password/{made.token}"
    result = {"user_id": user_id, "link": link, "expires_at": made.expires_at}
    return CommandAnswer(result, f"Send this link to {escape(email)}. It works once, for 24 hours:\n{escape(link)}")


@command.register(members_app, "reset-second-factor")
def reset_second_factor(email: options.Email) -> CommandAnswer:
    """Turn an account's second factor off, for a person who lost the app and the recovery codes.

    Example:
      svc admin member reset-second-factor --email bo@example.com

    """
    user_id = command.read(accounts.find_id, email)
    command.write(second_factors.disable, user_id, actor=OPERATOR, at=command.now())
    return CommandAnswer({"user_id": user_id}, f"{escape(email)} signs in with the password alone.")


def _change(workspace: int, email: str, **values: Role | MemberStatus) -> dict[str, Any]:
    user_id = command.read(members.find_member, workspace, email).user_id
    command.write(members.change, workspace, user_id, **values, actor=OPERATOR, at=command.now())
    return {"user_id": user_id, **values}
