"""A project's `.svc` folder with its settings (the key and the program in `.env`), and calls to the service."""

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import httpx2

from cli.integrator.output import NOT_SET_UP, REJECTED, UNREACHABLE, Failure, warn

FOLDER = ".svc"
KEY = "SERVICE_API_KEY"
PROGRAM = "SERVICE_PROGRAM_ID"
BASE = "SERVICE_BASE_URL"
PAYMENTS = "SERVICE_PAYMENT_ACCOUNT"
EXPLAINED = {
    KEY: "the program key; an owner generates one with `svc init --generate-key`",
    PROGRAM: "the program's number",
    BASE: "the URL of the service",
    PAYMENTS: "the connected payment account's id, if there is one",
}
LOCAL = "http://127.0.0.1:8000"
ASIDE = {KEY: "SERVICE_OTHER_API_KEY", PROGRAM: "SERVICE_OTHER_PROGRAM_ID"}  # the program that was used before
TIMEOUT_SECONDS = 20
UNAUTHORIZED = 401
_LINE = re.compile(r"^(?:export )?([A-Z_]+)=(.*)$")


class ServiceClient:
    """The service at a URL, with a credential (a program key or a session token) or without one."""

    _warned: ClassVar[set[str]] = set()  # a command says a warning once, however many calls it makes

    def __init__(self, base_url: str, credential: str | None = None, *, is_dry: bool = False) -> None:
        self.base_url = base_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {credential}"} if credential else {}
        self._headers |= {"Svc-Dry-Run": "true"} if is_dry else {}

    def call(self, method: str, path: str, body: Any = None, *, auth: Any = None, **query: Any) -> dict[str, Any]:
        """Return the response; `auth` signs the request. Raises Failure: the service's, or `service_unreachable`."""
        sent = {name: value for name, value in query.items() if value is not None}
        about: Any = {"params": sent, "headers": self._headers, "auth": auth, "timeout": TIMEOUT_SECONDS}
        try:
            response = httpx2.request(method, f"{self.base_url}{path}", json=body, **about)
        except (httpx2.TransportError, httpx2.InvalidURL) as problem:
            hint = "Check that it runs, and its URL."
            raise self._outage("service_unreachable", f"does not respond: {problem}", hint) from None
        try:
            content = response.json()
        except json.JSONDecodeError:
            content = None
        if not isinstance(content, dict):
            text = f"answered {response.status_code}, but not as this service does."
            raise self._outage("not_the_service", text, "Check the URL.")
        for warning in content.get("warnings", ()):
            if warning.get("code") not in self._warned:
                self._warned.add(warning.get("code"))
                warn(str(warning.get("message")), str(warning.get("hint", "")))
        if not response.is_success:
            error = {"code": str(response.status_code), "message": "The call was rejected."}
            exit_code = NOT_SET_UP if response.status_code == UNAUTHORIZED else REJECTED
            raise Failure(**error | (content.get("error") or {}), exit_code=exit_code)
        return content

    def rows(self, path: str) -> Iterator[dict[str, Any]]:
        cursor = None
        while True:
            page = self.call("GET", path, limit=200, cursor=cursor)
            yield from page["data"]
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def _outage(self, code: str, text: str, hint: str) -> Failure:
        hint = f"{hint} Set SERVICE_BASE_URL or use --base-url."
        return Failure(code, f"{self.base_url} {text}", hint, exit_code=UNREACHABLE)


def folder(*, above: bool = False) -> Path:
    """Return the project's `.svc` folder, here or above, as git does; with `above` it moves up if necessary."""
    here = Path.cwd()
    if above:
        if (here / FOLDER).is_dir() and not (here.parent / FOLDER).exists():
            (here / FOLDER).rename(here.parent / FOLDER)
        return here.parent / FOLDER
    found = (each / FOLDER for each in (here, *here.parents) if (each / FOLDER).is_dir())
    return next(found, here / FOLDER)


def settings() -> dict[str, str]:
    """Return the settings of this project: the environment takes precedence over `.svc/.env`."""
    path = folder() / ".env"
    lines = map(_LINE.match, path.read_text(encoding="utf-8").splitlines()) if path.is_file() else ()
    stored = {line[1]: line[2].strip().strip("\"'") for line in lines if line}
    return {name: os.environ.get(name) or stored.get(name, "") for name in (*EXPLAINED, *ASIDE.values())}


def program_id() -> int | None:
    """Return the program of this project."""
    return int(settings()[PROGRAM] or 0) or None


def base_url(given: str | None = None) -> str:
    """Return the service's URL: given, the project's, or the default of `make serve`."""
    return given or settings()[BASE] or LOCAL


def service(*, is_dry: bool = False) -> ServiceClient:
    """Return the service with the program key; all calls may be dry runs. Raises Failure if there is no key."""
    key = settings()[KEY]
    if not key:
        message = f"There is no program key: {KEY} is neither in the environment nor in {FOLDER}/.env."
        raise Failure("no_program_key", message, "Run `svc init` in your project.", exit_code=NOT_SET_UP)
    return ServiceClient(base_url(), key, is_dry=is_dry)


def save_settings(place: Path, values: dict[str, str]) -> bool:
    """Write settings into `.env` for shells and dotenv, and keep its other lines; return whether it changed."""
    path = place / ".env"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    safe = {name: "".join(one for one in value if one.isprintable() and one != "'") for name, value in values.items()}
    lines = []
    left = {name: shlex.quote(value) for name, value in safe.items() if value}
    for line in before.splitlines():
        found = _LINE.match(line)
        if found and found[1] == PAYMENTS and values.get(PAYMENTS) == "":  # the account is no longer connected
            continue
        lines.append(f"{found[1]}={left.pop(found[1])}" if found and found[1] in left else line)
    after = "\n".join([*lines, *(f"{name}={value}" for name, value in left.items())]) + "\n"
    changed = after != before
    if changed or path.stat().st_mode & 0o077:
        write_private(path, after)
    return changed


def write_private(path: Path, text: str) -> None:
    """Put text into a file of mode 0600, and create its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with TemporaryDirectory(prefix=f".{path.name}-", dir=path.parent) as folder:
        written = Path(folder) / path.name
        written.touch(0o600)
        written.write_text(text, encoding="utf-8")
        written.replace(path)
