"""`svc admin workspace` and `svc admin member`: workspaces, and who may sign in to them."""

from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.markup import escape

import configuration
from cli.admin import command
from cli.integrator.output import Answer, Flag, warn
from storage.access import accounts, members, passwords, second_factors, workspaces

app = typer.Typer(no_args_is_help=True)
members_app = typer.Typer(no_args_is_help=True)


@command.register(app)
def create(
    name: Annotated[str, typer.Argument(parser=command.name, metavar="NAME", help="Its name.")],
    owner_email: Annotated[str, typer.Option("--owner-email", parser=command.email, metavar="EMAIL")],
    password_stdin: command.PasswordStdin = False,
    existing_account: Flag = False,
) -> dict[str, Any]:
    """Create a workspace with its owner."""
    new, kept = _account(owner_email, asked=password_stdin, takes_existing=existing_account)
    made = command.write(workspaces.create, name, owner_email=owner_email, **new, at=command.now())
    return {"workspace_id": made[0], "user_id": made[1]} | kept


@command.register(members_app)
def add(
    workspace: command.WorkspaceId,
    email: command.Email,
    role: workspaces.Role,
    password_stdin: command.PasswordStdin = False,
    existing_account: Flag = False,
) -> dict[str, Any]:
    """Add a member to a workspace."""
    new, kept = _account(email, asked=password_stdin, takes_existing=existing_account)
    about = {"email": email, "role": role, "at": command.now()}
    user_id = command.write(workspaces.add_member, workspace, **new, **about)
    return {"user_id": user_id} | kept


def _account(email: str, *, asked: bool, takes_existing: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of a member's account, and a notice for the result if it existed and keeps its password."""
    password = command.secret(asked=asked, option="--password-stdin", prompt="password")
    stored = command.read(accounts.find_hash, email)
    if stored is not None and passwords.matches(stored, password):
        return {"password_hash": stored}, {}
    values = {"password_hash": passwords.protect_new(password, email=email), "takes_existing": takes_existing}
    if stored is None or not takes_existing:
        return values, {}
    message = f"The account {email} existed before and keeps its password; the one that you gave is not used."
    warn(message, label="[yellow]Note[/]")
    hint = "Set it: svc admin member set-password."
    return values, {"notice": {"code": "password_kept", "message": message, "hint": hint}}


def _add(name: str, does: str, said: str, operation: Callable[..., object] = members.change, **values: Any) -> None:
    def change(workspace: command.WorkspaceId, email: command.Email) -> Answer:
        user_id = command.read(members.get_member, workspace, email).user_id
        command.change(operation, workspace, user_id, **values)
        return Answer({"user_id": user_id, **values}, f"{escape(email)} {said} workspace {workspace}.")

    change.__doc__ = f"{does}\n\nExample: svc admin member {name} --workspace 1 --email bo@example.com"
    command.register(members_app, name)(change)


SUSPENDED, ACTIVE = workspaces.MemberStatus.SUSPENDED, workspaces.MemberStatus.ACTIVE
_add("suspend", "Suspend a member, who is signed out with their next request.", "is suspended from", status=SUSPENDED)
_add("reactivate", "Let a suspended member in again.", "is an active member of", status=ACTIVE)
_add("remove", "Remove a member from a workspace; the account stays.", "is no longer a member of", members.remove)


@command.register(members_app, "change-role")
def change_role(workspace: command.WorkspaceId, email: command.Email, role: workspaces.Role) -> dict[str, Any]:
    """Change a member's role. To transfer ownership, make the new owner one first."""
    user_id = command.read(members.get_member, workspace, email).user_id
    command.change(members.change, workspace, user_id, role=role)
    return {"user_id": user_id, "role": role}


@command.register(members_app, "set-password")
def set_password(email: command.Email, password_stdin: command.PasswordStdin = False) -> dict[str, Any]:
    """Set an account's password and end its sessions and the assistants that it connected."""
    user_id = command.read(accounts.find_id, email)
    password = command.secret(asked=password_stdin, option="--password-stdin", prompt="password")
    password_hash = passwords.protect_new(password, email=email)
    return {"user_id": user_id, "sessions_ended": command.change(accounts.set_password, user_id, password_hash)}


@command.register(members_app, "reset-link")
def reset_link(email: command.Email) -> dict[str, Any]:
    """Print a one-time link for setting a new password. It works for 24 hours and replaces an earlier link."""
    user_id = command.read(accounts.find_id, email)
    made = command.change(accounts.create_reset_link, user_id)
    link = f"{configuration.load().base_url}/reset-password#{made.token}"
    return {"user_id": user_id, "link": link, "expires_at": made.expires_at}


@command.register(members_app, "reset-second-factor")
def reset_second_factor(email: command.Email) -> dict[str, Any]:
    """Turn an account's second factor off, for a person who lost the app and the recovery codes."""
    user_id = command.read(accounts.find_id, email)
    command.change(second_factors.disable, user_id)
    return {"user_id": user_id}
