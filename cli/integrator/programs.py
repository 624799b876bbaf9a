"""`svc programs` and `svc partners`: the programs of the account that is logged in, and their partners."""

from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console
from rich.table import Table

from cli.integrator import login, project
from cli.integrator.output import Failure, Json, Output, answering, plain
from cli.integrator.service import ServiceClient

LOCAL = ("localhost", "127.0.0.1", "0.0.0.0")  # noqa: S104 - compared, not bound
ProgramId = Annotated[int | None, typer.Option(help="The program; else SERVICE_PROGRAM_ID, or your only one.")]
app = typer.Typer(no_args_is_help=True, help="List, create and delete programs, as the logged-in account.")
partners_app = typer.Typer(no_args_is_help=True, help="Add partners, as the logged-in account.")


@app.command("list")
def list_programs(as_json: Json = False) -> None:
    """List your programs, newest first.

    Example:
      svc programs list

    """
    with answering(as_json=as_json) as output:
        found = every(account())
        output.result({"data": found})
        if as_json:
            return
        table = Table("id", "name", "domain", "commission", "status", "key", box=None, pad_edge=False)
        for each in found:
            table.add_row(
                *map(plain, (each["id"], label(each), each["domain"])),
                *map(plain, (commission(each), each["status"], each["api_token_masked"])),
            )
        if found:
            Console(highlight=False, emoji=False).print(table)
        else:
            output.say("No programs yet. Create one with `svc programs create --name NAME --domain DOMAIN`.")


@app.command()
def create(
    name: Annotated[str, typer.Option(help="The name that partners see.")],
    domain: Annotated[str, typer.Option(help="The site that partners link to, such as shop.example.")],
    commission_rate: Annotated[float, typer.Option(min=0, max=100, help="Percent of each sale.")] = 20,
    currency: Annotated[str, typer.Option(help="Three letters (ISO 4217).")] = "USD",
    workspace: Annotated[int | None, typer.Option(help="The workspace, if you own several.")] = None,
    as_json: Json = False,
) -> None:
    """Create a program. Its key is not shown: `svc init --program ID` generates one when you are ready.

    Example:
      svc programs create --name "Acme partners" --domain acme.example

    """
    with answering(as_json=as_json) as output:
        sent: dict[str, Any] = {"name": name, "domain": domain, "commission_rate": commission_rate}
        sent |= {"currency": currency} | ({"workspace_id": workspace} if workspace else {})
        made = account().call("POST", "/api/programs", sent)
        output.say(f"Created program [bold]{made['id']}[/]. Next: svc init --program {made['id']}")
        output.result(made)


@app.command()
def delete(
    program: Annotated[int, typer.Argument(metavar="ID", help="The program's id.")],
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a program that has no events, or a sandbox. It cannot be restored.

    Example:
      svc programs delete 7 --yes

    """
    with answering(as_json=as_json) as output:
        if not yes and not (output.is_interactive and typer.confirm(f"Delete program {program}?", default=False)):
            raise Failure("not_confirmed", "Nothing is deleted.", "Use --yes.", exit_code=2)
        account().call("DELETE", f"/api/programs/{program}")
        output.say(f"Deleted program {program}.")
        output.result({"deleted": program})


@partners_app.command("create")
def add_partner(
    name: Annotated[str, typer.Option(help="The partner's name.")],
    code: Annotated[str, typer.Option(help="The value of ?aff= in their links.")],
    email: Annotated[str | None, typer.Option(help="The partner's e-mail.")] = None,
    program: ProgramId = None,
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
        link = partner_link(domain, made["code"])
        output.say(f"Added partner [bold]{plain(made['name'])}[/] to program {program_id}. Their link: {plain(link)}")
        output.result(made | {"program_id": program_id, "link": link})


def label(program: dict[str, Any]) -> str:
    """Return a program's name; a sandbox's says so, since it has the name of its live program."""
    live = program["sandbox_of"]
    return str(program["name"]) if live is None else f"{program['name']} (sandbox of {live})"


def account() -> ServiceClient:
    """Return the service as the logged-in account. Raises Failure without a login."""
    kept = login.load()
    return ServiceClient(kept.base_url, kept.token)


def every(service: ServiceClient) -> list[dict[str, Any]]:
    """Return all programs of the account."""
    page = service.call("GET", "/api/programs", limit=200)
    found: list[dict[str, Any]] = page["data"]
    while page["next_cursor"]:
        page = service.call("GET", "/api/programs", limit=200, cursor=page["next_cursor"])
        found += page["data"]
    return found


def commission(program: dict[str, Any]) -> str:
    """Return a program's commission as text."""
    rate = program["commission_rate"]
    flat = program["commission_type"] == "flat"
    return f"{rate} cents ({program['currency']})" if flat else f"{rate}%"


def choose(service: ServiceClient, output: Output, program_id: int | None = None) -> dict[str, Any]:
    """Return the program: the named one, the only one, or the one that the user chooses."""
    found = every(service)
    named = [each for each in found if each["id"] == program_id or (program_id is None and each["sandbox_of"] is None)]
    if len(named) == 1:
        return named[0]
    listed = ", ".join(f"{each['id']} ({label(each)})" for each in found) or "none"
    if program_id is not None or not found:
        hint = f"Yours: {listed}. Create one with `svc programs create`."
        raise Failure("program_not_found", "Your account has no such program.", hint)
    if not output.is_interactive:
        raise Failure(
            "program_required", "You have several programs.", f"Choose one with --program ID. Yours: {listed}."
        )
    output.say(f"Your programs: {plain(listed)}")
    return choose(service, output, typer.prompt("Program id", type=int))


def meant(program: int | None, output: Output) -> tuple[ServiceClient, int]:
    """Return the service as the logged-in account, and the program: named, the project's, or chosen."""
    service, asked = account(), program or int(project.settings()[project.PROGRAM] or 0)
    return service, asked or choose(service, output)["id"]


def partner_link(domain: str, code: str) -> str:
    """Return a partner's link to the program's domain: `https`, or `http` on the developer's own machine."""
    host = domain.partition(":")[0]
    scheme = "http" if host in LOCAL or host.endswith(".localhost") else "https"
    return f"{scheme}://{domain}/?aff={quote(code, safe='')}"
