"""`svc login` and `svc logout`: the device flow of RFC 8628, approved by a signed-in member on a dashboard page."""

import json
import os
import platform
import time
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.integrator import project
from cli.integrator.output import NOT_SET_UP, Answer, Failure, command, is_interactive, is_json, plain, say

SLOWER_SECONDS = 5  # RFC 8628, 3.5
BaseUrl = Annotated[
    str | None, typer.Option(help="The service's URL; default: SERVICE_BASE_URL, .svc/.env, or localhost.")
]


@command()
def login(base_url: BaseUrl = None) -> Answer:
    """Log this command line in: open a page, compare a code, approve it.

    The login is kept for 14 days in a file that only you can read (~/.config/svc/login.json).

    Example: svc login --base-url https://affiliates.example.com
    """
    service = project.ServiceClient(project.base_url(base_url))
    asked = service.call("POST", "/api/auth/device", {"client": f"svc on {platform.node() or 'this computer'}"[:255]})
    page = str(asked["verification_uri_complete"])
    typer.echo(f"Open {page}\nand compare the code: {asked['user_code']}", err=is_json())
    if is_interactive():
        webbrowser.open(page)
    say("Waiting for approval ...")
    response = _wait(service, asked)
    kept = {"base_url": service.base_url, "email": response["user"]["email"], "expires_at": response["expires_at"]}
    project.write_private(login_file(), json.dumps(kept | {"token": response["token"]}, indent=2) + "\n")
    return Answer(kept, f"Logged in as [bold]{plain(kept['email'])}[/]. Next: `svc init` in your project.")


def _wait(service: project.ServiceClient, asked: dict[str, Any]) -> dict[str, Any]:
    interval, until = asked["interval"], time.monotonic() + asked["expires_in"]
    while time.monotonic() < until:
        time.sleep(interval)
        try:
            return service.call("POST", "/api/auth/device/token", {"device_code": asked["device_code"]})
        except Failure as failure:
            if failure.error["code"] == "slow_down":
                interval += SLOWER_SECONDS
            elif failure.error["code"] != "authorization_pending":
                raise
    raise Failure("expired_token", "No member approved the login in time.", "Run `svc login` again.")


@command()
def logout() -> Answer:
    """End this command line's login, on this machine and on the service.

    Example: svc logout
    """
    service = account()
    login_file().unlink(missing_ok=True)
    service.call("POST", "/api/auth/logout")
    return Answer({"success": True}, "Logged out.")


def login_file() -> Path:
    """Return the file of the login, outside every project: in XDG_CONFIG_HOME, else ~/.config."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "svc" / "login.json"


def account() -> project.ServiceClient:
    """Return the service as the logged-in account. Raises Failure without a login."""
    try:
        kept = json.loads(login_file().read_text(encoding="utf-8"))
        return project.ServiceClient(kept["base_url"], kept["token"])
    except FileNotFoundError:
        message = "You are not logged in."
    except (ValueError, TypeError, KeyError):
        message = f"{login_file()} cannot be read."
    raise Failure("not_logged_in", message, "Run `svc login`.", exit_code=NOT_SET_UP)
