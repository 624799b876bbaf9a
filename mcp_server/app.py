"""The MCP app: POST /mcp for assistants, GET /llms.txt for models. It gets a Reader, never a writer."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import datetime
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from configuration import Configuration
from mcp_server import resources, server
from mcp_server.middleware import CALL, McpMiddleware
from mcp_server.tool_calls import ToolCalls
from mcp_server.tools import ALL
from mcp_server.tools.tool import Tool
from storage import Reader
from web.app import now, with_state
from web.body import LARGEST_BODY
from web.counts import Counts
from web.limits import REJECTED, RateLimits
from web.response import HANDLERS

PATHS = ("/mcp", "/llms.txt")
LOCAL = ("localhost", "127.0.0.1", "[::1]")


@asynccontextmanager
async def serving(
    reader: Reader,
    settings: Configuration,
    *,
    counts: Counts | None = None,
    clock: Callable[[], datetime] = now,
    tools: Iterable[Tool] = ALL,
) -> AsyncIterator[ASGIApp]:
    """Run the MCP app over the reads of an open storage for as long as the context lasts.

    `counts` is what rate limits count; `clock` gives every call its time. The SDK's session manager runs once: a
    new app for every context.
    """
    security = trusted(settings.base_url)
    calls = ToolCalls(tools, settings.base_url, security.allowed_hosts)
    manager = StreamableHTTPSessionManager(
        server.create(settings.base_url, calls),
        json_response=True,
        stateless=True,
        security_settings=security,
        max_request_body_size=LARGEST_BODY,
    )
    rates = {CALL: settings.limited(settings.mcp_rate), REJECTED: settings.limited(settings.rejected_rate)}
    limits = RateLimits(rates, counts or Counts())
    mcp = McpMiddleware(
        app=manager.handle_request, calls=calls, reader=reader, settings=settings, limits=limits, clock=clock
    )
    app = Starlette(routes=[Route("/llms.txt", _llms_txt)], exception_handlers=HANDLERS)
    with_state(app, llms_txt=resources.llms_txt(settings.base_url))

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/mcp":
            scope["route_path"] = "/mcp"
            await mcp(scope, receive, send)
        else:
            await app(scope, receive, send)

    async with manager.run():
        yield serve


def trusted(base_url: str) -> TransportSecuritySettings:
    """Return the hosts and origins that a request may name: the service's public URL, and this machine."""
    url = urlsplit(base_url)
    default_port = 443 if url.scheme == "https" else 80
    served = {url.netloc, f"{url.hostname}:{url.port or default_port}"}
    hosts = [*sorted(served), *LOCAL, *(f"{host}:*" for host in LOCAL)]
    origins = [f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts]
    return TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)


async def _llms_txt(request: Request) -> PlainTextResponse:
    return PlainTextResponse(request.app.state.llms_txt, media_type="text/plain")
