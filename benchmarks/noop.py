"""What the MCP protocol costs by itself: the service's transport with a tool that does nothing and reads no key.

Beside it the bare route that does the read of get_program: what that tool's calls are measured against.
"""

import gc
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware
from mcp_types import SERVER_INFO_META_KEY
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

import storage
from mcp_server import app as mcp_app
from mcp_server import exchange
from presentation.resources import ProgramView
from storage.management import program_settings
from web.response import ModelResponse

BASE_URL = "http://127.0.0.1:8000"
_server: Server[Any] = Server("noop")
_answer = {"content": [{"type": "text", "text": "{}"}], "structuredContent": {}, "isError": False}
_envelope = {"resultType": "complete", "_meta": {SERVER_INFO_META_KEY: _server.server_info_stamp}}


async def _call(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:  # noqa: ARG001
    return {**_envelope, **_answer}


_server.middleware[:] = [_call]


class Noop:
    """ASGI for POST /mcp, as mcp_server.app serves it behind its gate."""

    def __init__(self) -> None:
        security = mcp_app.trusted(BASE_URL)
        self.manager = StreamableHTTPSessionManager(
            _server, json_response=True, stateless=True, security_settings=security
        )
        self._checks = TransportSecurityMiddleware(security)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        message = await receive()
        scope["request_id"] = ""

        async def again() -> Any:
            return message

        answer = await exchange.answer(_server, self._checks, Request(scope), message["body"])
        await (self.manager.handle_request if answer is None else answer)(scope, again, send)


async def program(request: Request) -> Response:
    body = await request.json()
    found = await request.app.state.store.read(program_settings.get_program, body["program_id"])
    return ModelResponse(ProgramView.of(found))  # type: ignore[return-value]  # an ASGI app, which is all that is asked


noop = Noop()


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with storage.opened(os.environ["SVC_DATABASE_URL"]) as store, noop.manager.run():
        app.state.store = store
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)
        yield


app = Starlette(
    routes=[Route("/program", program, methods=["POST"]), Route("/mcp", noop, methods=["POST"])], lifespan=lifespan
)
