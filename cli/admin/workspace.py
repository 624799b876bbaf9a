"""`svc admin workspace`."""

from typing import Annotated

import typer
from rich.markup import escape

from cli.admin import command, options
from storage.access import workspaces

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `workspace create` a command of two words."""


@app.command()
def create(
    name: Annotated[str, typer.Argument(parser=options.text, metavar="NAME", help="Its name.")],
    owner_email: Annotated[str, typer.Option("--owner-email", parser=options.email, metavar="EMAIL")],
    password_stdin: options.PasswordStdin = False,
    as_json: options.Json = False,
) -> None:
    r"""Create a workspace with its owner.

    An account that exists gains the workspace and keeps its password; the command says so.

    Example:
      svc admin workspace create Acme --owner-email ada@example.com \\
        --password-stdin < password.txt

    """
    with command.answering(as_json=as_json) as response:
        password_hash = options.password_hash(asked=password_stdin, email=owner_email)
        created = command.write(
            workspaces.create, name, owner_email=owner_email, password_hash=password_hash, at=command.now()
        )
        text = f"Workspace {created.workspace_id} ({escape(name)}) is owned by {escape(owner_email)}."
        kept = command.password_kept(created.user_id, password_hash, email=owner_email)
        response(created._asdict() | kept, text)
