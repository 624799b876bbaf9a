"""CORS for the calls that a shop's pages make: never credentials (WHATWG Fetch), and any origin for two of them."""

from starlette.types import ASGIApp, Receive, Scope, Send

ANY_ORIGIN = (b"access-control-allow-origin", b"*")
ALLOWED = (
    (b"access-control-allow-methods", b"POST"),
    (b"access-control-allow-headers", b"content-type, authorization"),
    (b"access-control-max-age", b"86400"),
)
_PREFLIGHT = [ANY_ORIGIN, *ALLOWED]


class OpenToBrowsers:
    """An endpoint with CORS headers on every response, and a preflight response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "OPTIONS":
            await send({"type": "http.response.start", "status": 204, "headers": _PREFLIGHT})
            await send({"type": "http.response.body", "body": b""})
            return
        scope["extra_headers"] = (ANY_ORIGIN,)  # web.middleware sends them with every response, errors included
        await self._app(scope, receive, send)
