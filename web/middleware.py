"""The outermost layer: it adds a request id and security headers to every response and hides stack traces."""

import asyncio
import itertools
import logging
import secrets
import time
from contextvars import ContextVar
from functools import lru_cache

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from storage.rules.errors import InternalError, OutcomeUnknown, ValidationError
from web import metrics
from web.response import error_in_client_format

# The request that is being served, for the lines that are logged meanwhile.
current_request: ContextVar[Scope | None] = ContextVar("current_request", default=None)
log = logging.getLogger(__name__)
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_NO_STORE = (b"cache-control", b"no-store")
_HSTS = (b"strict-transport-security", b"max-age=31536000")
_PERMISSIONS = (
    b"permissions-policy",
    b"camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
)
_TO_ANY_PAGE = {"Access-Control-Allow-Origin": "*"}  # some calls promise it, and no app says which
_RUN = secrets.token_hex(8)  # with the count: unique in all processes, without a random number per request
_count = itertools.count()


class RequestMiddleware:
    """Pure ASGI middleware: sets `scope["request_id"]` and `X-Request-Id`, and turns unexpected errors into a 500.

    It counts each response with its route (`scope["route"]`, or `scope["route_path"]` where no router ran) and its
    error (`scope["error_code"]`), and adds `scope["extra_headers"]` to it. A call that is cut off when the server stops
    answers 503 `outcome_unknown`. A URL with a NUL, which PostgreSQL cannot store, gets 400 before any app sees it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope["request_id"] = f"{_RUN}{next(_count):08x}"
        header = (b"x-request-id", request_id.encode())
        current_request.set(scope)
        started = closed = False
        started_at = time.perf_counter()

        async def send_marked(message: Message) -> None:
            nonlocal started, closed
            if message["type"] == "http.response.start":
                started = True
                sent = [*message.get("headers", ()), *scope.get("extra_headers", ())]
                fields = dict(sent)
                media_type = fields.get(b"content-type", b"")
                added = _security_headers(media_type, scope.get("scheme"), names_cache=b"cache-control" in fields)
                message["headers"] = [*sent, header, *added]
                metrics.count_request(scope, message["status"], started_at)
            try:
                await send(message)
            except (OSError, RuntimeError):
                closed = True  # by the client: there is no one to respond to
                raise

        try:
            app = _refuse_nul if "\0" in scope["path"] or b"%00" in scope["query_string"] else self._app
            await app(scope, receive, send_marked)
        except asyncio.CancelledError:  # the server stops, and no longer waits for this call
            if not started:
                await error_in_client_format(OutcomeUnknown(), scope)(scope, receive, send_marked)
            raise
        except Exception:
            if closed:
                return
            log.exception("request %s failed", request_id)
            if not started:
                await error_in_client_format(InternalError(), scope)(scope, receive, send_marked)


async def _refuse_nul(scope: Scope, receive: Receive, send: Send) -> None:
    error = ValidationError("The URL contains a NUL.", hint="Remove %00 from the URL.")
    await error_in_client_format(error, scope, _TO_ANY_PAGE)(scope, receive, send)


@lru_cache(maxsize=256)
def _security_headers(media_type: bytes, scheme: str | None, *, names_cache: bool) -> list[tuple[bytes, bytes]]:
    """Return what a response needs: JSON is not stored unless it says so, a page uses no device, https stays https."""
    headers = [_NOSNIFF]
    if media_type.startswith(b"application/json") and not names_cache:
        headers.append(_NO_STORE)
    if media_type.startswith(b"text/html"):
        headers.append(_PERMISSIONS)
    if scheme == "https":
        headers.append(_HSTS)
    return headers
