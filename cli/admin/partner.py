"""`svc admin partner`."""

from datetime import datetime
from typing import Annotated, Any

import typer
from rich.markup import escape
from sqlalchemy import Connection

from cli.admin import command, options
from storage.engine.audit import OPERATOR
from storage.management import partners

app = typer.Typer(no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `partner create` a command of two words."""


@app.command()
def create(
    program: options.ProgramId,
    name: options.Name,
    code: Annotated[str, typer.Option(parser=options.code, metavar="CODE", help="The value of ?aff= in links.")],
    email: Annotated[str | None, typer.Option(parser=options.email, metavar="EMAIL")] = None,
    as_json: options.Json = False,
) -> None:
    """Add a partner to a program.

    Example:
      svc admin partner create --program 1 --name "Nora Blogs" --code nora

    """
    with command.answering(as_json=as_json) as response:
        partner_id = command.write(_enrol, program, name=name, code=code, email=email, at=command.now())
        text = f"Partner {partner_id} ({escape(name)}) is added; their links have ?aff={escape(code)}"
        response({"partner_id": partner_id, "code": code}, text)


def _enrol(connection: Connection, program_id: int, *, at: datetime, **partner: Any) -> int:
    command.require_program(connection, program_id)
    return partners.enrol(connection, program_id, at=at, actor=OPERATOR, **partner).id
