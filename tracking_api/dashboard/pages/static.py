"""GET /static/<version>/<name>: stylesheet, scripts, vendored libraries; from memory, kept by browsers for good."""

import gzip
from functools import cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from storage.rules import keys
from storage.rules.errors import NotFound
from web.response import JsonResponse, error_response

_FOLDER = Path(__file__).parent.parent / "static"
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_KEPT = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}


class Asset(NamedTuple):
    """A file as it is sent."""

    content: bytes
    zipped: bytes
    media_type: str
    version: str


@cache
def assets() -> dict[str, Asset]:
    """Return every file that may be asked for, by name: there is no way to another."""
    files = [path for path in sorted(_FOLDER.rglob("*")) if path.suffix in _TYPES]
    return {path.relative_to(_FOLDER).as_posix(): _asset(path) for path in files}


def address(name: str) -> str:
    """Return where a file is: another address for every content, so that nothing old is ever shown."""
    return f"/static/{assets()[name].version}/{name}"


async def endpoint(request: Request) -> Response | JsonResponse:
    """Answer with a file."""
    asset = assets().get(request.path_params["name"])
    if asset is None:
        return error_response(NotFound(), request.scope["request_id"])
    zipped = "gzip" in request.headers.get("accept-encoding", "")
    headers = _KEPT | ({"Content-Encoding": "gzip"} if zipped else {})
    return Response(asset.zipped if zipped else asset.content, headers=headers, media_type=asset.media_type)


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    version = keys.digest(content.decode())[:10]
    return Asset(content, gzip.compress(content, mtime=0), _TYPES[path.suffix], version)
