"""Where the service is and which key opens it: arguments, else the environment, else the project's .svc/.env."""

import os
import re
import shlex
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple, TypedDict

try:
    VERSION = version("svc-affiliate")
except PackageNotFoundError:  # a checkout that is not installed
    VERSION = "0"
CLICK_COOKIE = "svc_click_id"
LOCAL = "http://127.0.0.1:8000"
TIMEOUT_SECONDS = 2.0
_LINE = re.compile(r"^(?:export )?([A-Z_]+)=(.*)$")
_KEY = re.compile(r"^aff_(\d+)_")


class Target(NamedTuple):
    """The service that one call goes to."""

    key: str
    base_url: str
    is_test: bool
    outbox: Path | None


class Options(TypedDict, total=False):
    """What a Track can be made with."""

    api_key: str | Callable[[], str] | None
    program_id: int | None
    base_url: str | None
    timeout_seconds: float
    outbox: str | os.PathLike[str] | None
    test_mode: bool | None


class Settings(NamedTuple):
    """What a Track was made with. The rest is read at each call, so that a new key counts without a restart."""

    api_key: str | Callable[[], str] | None = None
    program_id: int | None = None
    base_url: str | None = None
    timeout_seconds: float = TIMEOUT_SECONDS
    outbox: str | os.PathLike[str] | None = None
    test_mode: bool | None = None

    def target(self) -> Target:
        """Return where a call goes now."""
        found = _stored() | os.environ
        key = self.api_key() if callable(self.api_key) else self.api_key or found.get("SERVICE_API_KEY", "")
        base_url = (self.base_url or found.get("SERVICE_BASE_URL") or LOCAL).rstrip("/")
        named = _KEY.match(key)
        program = str(self.program_id or found.get("SERVICE_PROGRAM_ID") or (named[1] if named else "unknown"))
        is_test = found.get("SERVICE_TEST_MODE", "").lower() in {"1", "on", "true"}
        folder = self.outbox or found.get("SERVICE_OUTBOX")
        return Target(
            key,
            base_url,
            is_test if self.test_mode is None else self.test_mode,
            Path(folder) / _name(base_url, program) if folder else None,
        )


def _name(base_url: str, program: str) -> str:
    """Return the name of a program's folder: what waits for a sandbox is never sent to the live program."""
    return re.sub(r"[^\w.-]+", "-", f"{base_url.partition('://')[2]}-{program}")


def _stored() -> dict[str, str]:
    """Return the settings of `.svc/.env`, in this folder or above."""
    here = Path.cwd()
    path = next((each / ".svc/.env" for each in (here, *here.parents) if (each / ".svc/.env").is_file()), None)
    lines = map(_LINE.match, path.read_text(encoding="utf-8").splitlines()) if path else ()
    return {line[1]: "".join(shlex.split(line[2])) for line in lines if line}
