"""The file with the command line's login: outside every project, readable only by its owner."""

import json
import os
from pathlib import Path
from typing import NamedTuple

from cli.integrator.output import NOT_SET_UP, Failure
from cli.integrator.private_file import write


class Login(NamedTuple):
    """A login: the account, the service and the session token."""

    base_url: str
    token: str
    email: str
    expires_at: str


def path() -> Path:
    """Return the path of the login file: in XDG_CONFIG_HOME, else ~/.config."""
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "svc" / "login.json"


def save(login: Login) -> None:
    """Save a login in place of the previous one."""
    write(path(), json.dumps(login._asdict(), indent=2) + "\n")


def load() -> Login:
    """Return the login. Raises Failure if there is none."""
    try:
        return Login(**json.loads(path().read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise _none("You are not logged in.") from None
    except (ValueError, TypeError):
        raise _none(f"{path()} cannot be read.") from None


def forget() -> None:
    """Delete the login."""
    path().unlink(missing_ok=True)


def _none(message: str) -> Failure:
    return Failure("not_logged_in", message, "Run `svc login`.", exit_code=NOT_SET_UP)
