"""The account that is logged in: `svc login` and `svc logout` (RFC 8628), its programs and their partners."""

import json
import os
import platform
import time
import webbrowser
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.table import Table

from cli.integrator import project
from cli.integrator.output import NOT_SET_UP, Answer, Failure, Flag, command, is_interactive, is_json, plain, say

SLOWER_SECONDS = 5  # RFC 8628, 3.5
Url = Annotated[str | None, typer.Option(help="The service's URL; default: SERVICE_BASE_URL, .svc/.env, or localhost.")]
ProgramId = Annotated[int | None, typer.Option(help="The program; else SERVICE_PROGRAM_ID, or your only one.")]
app = typer.Typer(no_args_is_help=True, help="List, create and delete programs, as the logged-in account.")
partners_app = typer.Typer(no_args_is_help=True, help="Add partners, as the logged-in account.")


@command()
def login(base_url: Url = None) -> dict[str, Any]:
    """Log this command line in: open a page, compare a code, approve it."""
    service = project.ServiceClient(project.base_url(base_url))
    asked = service.call("POST", "/api/auth/device", {"client": f"svc on {platform.node() or 'this computer'}"[:255]})
    page = str(asked["verification_uri_complete"])
    typer.echo(f"Open {page}\nand compare the code: {asked['user_code']}", err=is_json())
    if is_interactive():
        webbrowser.open(page)
    say("Waiting for approval ...")
    interval = asked["interval"]
    until = time.monotonic() + asked["expires_in"]
    while time.monotonic() < until:
        time.sleep(interval)
        try:
            response = service.call("POST", "/api/auth/device/token", {"device_code": asked["device_code"]})
            break
        except Failure as failure:
            if failure.error["code"] == "slow_down":
                interval += SLOWER_SECONDS
            elif failure.error["code"] != "authorization_pending":
                raise
    else:
        raise Failure("expired_token", "No member approved the login in time.", "Run `svc login` again.")
    kept = {"base_url": service.base_url, "email": response["user"]["email"], "expires_at": response["expires_at"]}
    project.write_private(login_file(), json.dumps(kept | {"token": response["token"]}, indent=2) + "\n")
    return kept


@command()
def logout() -> dict[str, Any]:
    """End this command line's login, on this machine and on the service."""
    account = service()
    login_file().unlink(missing_ok=True)
    account.call("POST", "/api/auth/logout")
    return {"success": True}


def login_file() -> Path:
    """Return the file of the login, outside every project: in XDG_CONFIG_HOME, else ~/.config."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "svc" / "login.json"


def service() -> project.ServiceClient:
    """Return the service as the logged-in account. Raises Failure without a login."""
    try:
        kept = json.loads(login_file().read_text(encoding="utf-8"))
        return project.ServiceClient(kept["base_url"], kept["token"])
    except FileNotFoundError:
        message = "You are not logged in."
    except (ValueError, TypeError, KeyError):
        message = f"{login_file()} cannot be read."
    raise Failure("not_logged_in", message, "Run `svc login`.", exit_code=NOT_SET_UP)


@command(app, "list")
def list_programs() -> Answer:
    """List your programs, newest first."""
    found = list(service().rows("/api/programs"))
    table = Table("id", "name", "domain", "commission", "status", "key", box=None, pad_edge=False)
    for each in found:
        is_flat = each["commission_type"] == "flat"
        paid = f"{each['commission_rate']} cents ({each['currency']})" if is_flat else f"{each['commission_rate']}%"
        shown = (each["id"], label(each), each["domain"], paid, each["status"], each["api_token_masked"])
        table.add_row(*map(plain, shown))
    if found:
        say(table, soft_wrap=False)
    else:
        say("No programs yet. Create one with `svc programs create --name NAME --domain DOMAIN`.")
    return Answer({"data": found})


@command(app)
def create(
    name: Annotated[str, typer.Option(help="The name that partners see.")],
    domain: Annotated[str, typer.Option(help="The site that partners link to, such as shop.example.")],
    commission_rate: Annotated[float, typer.Option(min=0, max=100, help="Percent of each sale.")] = 20,
    currency: Annotated[str, typer.Option(help="Three letters (ISO 4217).")] = "USD",
    workspace: Annotated[int | None, typer.Option(help="The workspace, if you own several.")] = None,
) -> dict[str, Any]:
    """Create a program. Its key is not shown: `svc init --program ID` generates one when you are ready."""
    sent: dict[str, Any] = {"name": name, "domain": domain, "commission_rate": commission_rate, "currency": currency}
    return service().call("POST", "/api/programs", sent | ({"workspace_id": workspace} if workspace else {}))


@command(app)
def delete(program: Annotated[int, typer.Argument(metavar="ID")], yes: Flag = False) -> dict[str, Any]:
    """Delete a program that has no events, or a sandbox. It cannot be restored."""
    if not yes and not (is_interactive() and typer.confirm(f"Delete program {program}?", default=False)):
        raise Failure("not_confirmed", "Nothing is deleted.", "Use --yes.", exit_code=2)
    service().call("DELETE", f"/api/programs/{program}")
    return {"deleted": program}


@command(partners_app, "create")
def add_partner(name: str, code: str, email: str | None = None, program: ProgramId = None) -> dict[str, Any]:
    """Add a partner to a program that you own, and show their link."""
    service, program_id = chosen(program)
    sent = {"name": name, "code": code} | ({"email": email} if email else {})
    made = service.call("POST", f"/api/programs/{program_id}/partners", sent)
    link = partner_link(service.call("GET", f"/api/programs/{program_id}")["domain"], made["code"])
    return made | {"program_id": program_id, "link": link}


def label(program: dict[str, Any]) -> str:
    """Return a program's name; a sandbox's says so, since it has the name of its live program."""
    live = program["sandbox_of"]
    return str(program["name"]) if live is None else f"{program['name']} (sandbox of {live})"


def sandbox_of(service: project.ServiceClient, program_id: int) -> dict[str, Any] | None:
    """Return a program's sandbox, which a sandbox is itself; None if it has none."""
    sandboxes = (each for each in service.rows("/api/programs") if each["sandbox_of"] is not None)
    return next((each for each in sandboxes if program_id in {each["id"], each["sandbox_of"]}), None)


def choose(service: project.ServiceClient, program_id: int | None) -> dict[str, Any]:
    """Return the program: the named one, the only one, or the one that the user chooses."""
    found = list(service.rows("/api/programs"))
    named = [each for each in found if each["id"] == program_id or (program_id is None and each["sandbox_of"] is None)]
    if len(named) == 1:
        return named[0]
    listed = ", ".join(f"{each['id']} ({label(each)})" for each in found) or "none"
    if program_id is not None or not found:
        hint = f"Yours: {listed}. Create one with `svc programs create`."
        raise Failure("program_not_found", "Your account has no such program.", hint)
    if not is_interactive():
        hint = f"Choose one with --program ID. Yours: {listed}."
        raise Failure("program_required", "You have several programs.", hint)
    say(f"Your programs: {plain(listed)}")
    return choose(service, typer.prompt("Program id", type=int))


def chosen(program: int | None = None) -> tuple[project.ServiceClient, int]:
    """Return the service as the logged-in account, and the program: named, the project's, or chosen."""
    account, named = service(), program or project.program_id()
    return account, named or choose(account, None)["id"]


def partner_link(domain: str, code: str) -> str:
    """Return a partner's link to the program's domain."""
    return f"{site(domain)}?aff={quote(code, safe='')}"


def site(domain: str) -> str:
    """Return the URL of a domain: `https`, or `http` on the developer's own machine."""
    host = domain.partition(":")[0]
    is_local = host in {"localhost", "127.0.0.1", "0.0.0.0"} or host.endswith(".localhost")  # noqa: S104 - compared
    return f"{'http' if is_local else 'https'}://{domain}/"
