"""GET /js/<name> serves the browser tracker, GET /static/<version>/<name> the dashboard's files, both from memory."""

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from presentation.operations import Description
from storage.rules.errors import NotFound
from tracking_api.calls.fields import ANY_ORIGIN

TRACKER_FOLDER = Path(__file__).parent / "static"
TRACKER = "svc-tracker.js"
_PAGE_FOLDER = Path(__file__).parent / "dashboard" / "static"
_TEXT = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_TYPES = {**_TEXT, ".svg": "image/svg+xml", ".webp": "image/webp"}
_STYLES = {  # of all pages, of those with a chart, of the guides, of payouts and how partners are paid
    "pages.css": ("tokens.css", "style.css", "parts.css", "lists.css"),
    "results.css": ("results.css", "vendor/uPlot.min.css"),
    "guides.css": ("guides.css",),
    "portal.css": ("portal.css",),
    "payouts.css": ("payouts.css",),
}
_SHORT = "public, max-age=300"
_FOR_EVER = "public, max-age=31536000, immutable"


class Asset(NamedTuple):
    """A file, ready to be sent; `version` names its content."""

    content: bytes
    compressed: bytes
    media_type: str
    version: str


@cache
def trackers(folder: Path) -> dict[str, Asset]:
    """Return the trackers by name: each version forever under its own name, the newest also under TRACKER."""
    newest = {TRACKER: _asset((folder / TRACKER).read_bytes(), ".js")}
    return newest | {_versioned(one): one for path in folder.glob("*.js") for one in [_asset(path.read_bytes(), ".js")]}


@cache
def page_assets() -> dict[str, Asset]:
    """Return the dashboard's files by name, the stylesheets as one; no other file can be requested."""
    found = {}
    for path in sorted(_PAGE_FOLDER.rglob("*")):
        if path.suffix in {*_TYPES} - {".css"}:
            content = path.read_bytes()  # of scripts without comments and indentation
            trimmed = re.sub(rb"(?m)^\s+|^//.*\n", b"", content) if path.suffix == ".js" else content
            found[path.relative_to(_PAGE_FOLDER).as_posix()] = _asset(trimmed, path.suffix)
    for bundle, names in _STYLES.items():
        styles = b"\n".join((_PAGE_FOLDER / name).read_bytes() for name in names)
        styles = re.sub(rb"(?s)/\*.*?\*/|(?<=:) |\s*([{};,])\s*", rb"\1", styles)  # without comments and indentation
        found[bundle] = _asset(styles, ".css")
    return found


def page_asset_path(name: str) -> str:
    """Return the path of a file; it changes with the content, so that a browser never shows an old copy."""
    return f"/static/{page_assets()[name].version}/{name}"


async def tracker(request: Request) -> Response:
    """Respond with a tracker. Raises NotFound."""
    request.scope["extra_headers"] = (ANY_ORIGIN,)  # also of an error
    lifetime = _SHORT if request.path_params["name"] == TRACKER else _FOR_EVER
    return _response(request, trackers(TRACKER_FOLDER), lifetime, is_tracker=True)


async def page_asset(request: Request) -> Response:
    """Respond with a file of the dashboard. Raises NotFound."""
    return _response(request, page_assets(), _FOR_EVER)


def _response(request: Request, assets: dict[str, Asset], lifetime: str, *, is_tracker: bool = False) -> Response:
    if request.path_params["name"] not in assets:
        raise NotFound
    asset = assets[request.path_params["name"]]
    # The tag is weak: the plain and the compressed bytes share it.
    headers = {"Cache-Control": lifetime, "ETag": f'W/"{asset.version}"', "Vary": "Accept-Encoding"}
    headers |= {"Content-Location": _versioned(asset)} if is_tracker else {}
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if "*" in known or f'"{asset.version}"' in known:  # RFC 9110: compared weakly
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.compressed, headers=headers | {"Content-Encoding": "gzip"}, media_type=asset.media_type)
    return Response(asset.content, headers=headers, media_type=asset.media_type)


def _versioned(tracker: Asset) -> str:
    return f"svc-tracker.{tracker.version}.js"


def _asset(content: bytes, suffix: str) -> Asset:
    version = hashlib.sha256(content).hexdigest()[:16]
    return Asset(content, gzip.compress(content, mtime=0), _TYPES[suffix], version)


TRACKER_DESCRIPTION = Description(
    "getTracker",
    "The browser tracker: `svc-tracker.js`, or a fixed version of it, `svc-tracker.<version>.js`",
    {200: (), 304: ()},
    (NotFound,),
    tag="browser",
    headers={"If-None-Match": "The ETag of the copy that the browser has."},
    response_headers=("Access-Control-Allow-Origin", "ETag", "Cache-Control", "Content-Location", "Vary"),
    media="text/javascript",
)
