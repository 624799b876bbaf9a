"""`svc partners create`: add a partner, as the logged-in account."""

from typing import Annotated

import typer

from cli.integrator import landing
from cli.integrator.init import meant
from cli.integrator.output import Json, answering, plain

app = typer.Typer(no_args_is_help=True, help="Add partners, as the logged-in account.")


@app.callback()
def _group() -> None:
    """Keep `partners create` a command of two words."""


@app.command()
def create(
    name: Annotated[str, typer.Option(help="The partner's name.")],
    code: Annotated[str, typer.Option(help="The value of ?aff= in their links.")],
    email: Annotated[str | None, typer.Option(help="The partner's e-mail.")] = None,
    program: Annotated[int | None, typer.Option(help="The program; else SERVICE_PROGRAM_ID, or your only one.")] = None,
    as_json: Json = False,
) -> None:
    """Add a partner to a program that you own, and show their link.

    Example:
      svc partners create --name "Nora Blogs" --code nora

    """
    with answering(as_json=as_json) as output:
        service, program_id = meant(program, output)
        sent = {"name": name, "code": code} | ({"email": email} if email else {})
        made = service.call("POST", f"/api/programs/{program_id}/partners", sent)
        domain = service.call("GET", f"/api/programs/{program_id}")["domain"]
        link = landing.url(domain, made["code"])
        output.say(f"Added partner [bold]{plain(made['name'])}[/] to program {program_id}. Their link: {plain(link)}")
        output.result(made | {"program_id": program_id, "link": link})
