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
    is_dry: bool


class Options(TypedDict, total=False):
    """What a Track can be made with."""

    api_key: str | Callable[[], str] | None
    program_id: int | None
    base_url: str | None
    timeout_seconds: float
    outbox: str | os.PathLike[str] | None
    test_mode: bool | None
    dry_run: bool


def target_of(options: Options) -> Target:
    """Return where a call goes now, read at each call, so that a new key counts without a restart."""
    here = Path.cwd()
    path = next((each / ".svc/.env" for each in (here, *here.parents) if (each / ".svc/.env").is_file()), None)
    lines = map(_LINE.match, path.read_text(encoding="utf-8").splitlines()) if path else ()
    found = {line[1]: "".join(shlex.split(line[2])) for line in lines if line} | os.environ
    given = options.get("api_key")
    key = given() if callable(given) else given or found.get("SERVICE_API_KEY", "")
    base_url = (options.get("base_url") or found.get("SERVICE_BASE_URL") or LOCAL).rstrip("/")
    named = _KEY.match(key)
    program = options.get("program_id") or found.get("SERVICE_PROGRAM_ID") or (named[1] if named else "unknown")
    is_test = options.get("test_mode")
    if is_test is None:
        is_test = found.get("SERVICE_TEST_MODE", "").lower() in {"1", "on", "true"}
    is_dry = options.get("dry_run", False)
    folder = None if is_dry else options.get("outbox") or found.get("SERVICE_OUTBOX")  # a dry run is never repeated
    # What waits for a sandbox is never sent to the live program: each has a folder of its own.
    name = re.sub(r"[^\w.-]+", "-", f"{base_url.partition('://')[2]}-{program}")
    return Target(key, base_url, is_test, Path(folder) / name if folder else None, is_dry)
