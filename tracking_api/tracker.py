"""GET /js/svc-tracker.js: the browser tracker, and twins of it under names that hold one version for ever."""

import gzip
import hashlib
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from presentation.operations import Description
from storage.rules.errors import NotFound
from tracking_api.cors import open_to_browsers

FOLDER = Path(__file__).parent / "static"
NAME = "svc-tracker.js"
SHORT = "public, max-age=300"
FOR_EVER = "public, max-age=31536000, immutable"


class Script(NamedTuple):
    """A script as it is sent: `twin` is the name that its version keeps."""

    content: bytes
    compressed: bytes
    version: str
    cache_control: str

    @property
    def twin(self) -> str:
        """The name under which this version, and never another, is served."""
        return f"svc-tracker.{self.version}.js"

    @property
    def etag(self) -> str:
        """Weak: plain and compressed bytes share it."""
        return f'W/"{self.version}"'


def scripts(folder: Path) -> dict[str, Script]:
    """Return what is served under each name: every script of a folder under its twin, the newest under NAME as well."""
    versions = (_script(path)._replace(cache_control=FOR_EVER) for path in folder.glob("*.js"))
    return {NAME: _script(folder / NAME)} | {script.twin: script for script in versions}


def _script(path: Path) -> Script:
    content = path.read_bytes()
    version = hashlib.sha256(content).hexdigest()[:16]
    return Script(content, gzip.compress(content, mtime=0), version, SHORT)


SCRIPTS = scripts(FOLDER)


async def _tracker(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the script of a name, or 304 to who has it. Raises NotFound."""
    request = Request(scope)
    script = SCRIPTS.get(request.path_params["name"])
    if script is None:
        raise NotFound
    headers = {
        "Cache-Control": script.cache_control,
        "Content-Location": script.twin,
        "ETag": script.etag,
        "Vary": "Accept-Encoding",
    }
    if _has(request, script):
        answer = Response(status_code=304, headers=headers)
    elif "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
        answer = Response(script.compressed, headers=headers, media_type="text/javascript")
    else:
        answer = Response(script.content, headers=headers, media_type="text/javascript")
    await answer(scope, receive, send)


def _has(request: Request, script: Script) -> bool:
    """Say whether the request's If-None-Match names this version (RFC 9110: compared weakly)."""
    named = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    return "*" in named or script.etag.removeprefix("W/") in named


endpoint = open_to_browsers(_tracker)
DESCRIPTION = Description(
    "getTracker",
    "The browser tracker: `svc-tracker.js`, or one version of it for ever, `svc-tracker.<version>.js`",
    {200: (), 304: ()},
    (NotFound,),
    tag="browser",
    headers={"If-None-Match": "The ETag of the copy that the browser has."},
    response_headers=("Access-Control-Allow-Origin", "ETag", "Cache-Control", "Content-Location", "Vary"),
    media="text/javascript",
)
