"""What the SDK's transport costs by itself, with a tool that does nothing and reads no key.

Beside it the bare route that does the read of get_program: what that tool's calls are measured against.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, TextContent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import storage
from mcp_server import app as mcp_app
from presentation.resources import ProgramView
from storage.management import program_settings
from web import garbage
from web.response import ModelResponse

BASE_URL = "http://127.0.0.1:8000"


async def _call(_context: ServerRequestContext[Any, Any], _params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(text="{}")], structured_content={})


_server: Server[Any] = Server("noop", on_call_tool=_call, get_tool_input_schema=lambda _name: None)
manager = StreamableHTTPSessionManager(
    _server, json_response=True, stateless=True, security_settings=mcp_app.trusted(BASE_URL)
)


async def program(request: Request) -> Response:
    body = await request.json()
    found = await request.app.state.store.read(program_settings.get_program, body["program_id"])
    return ModelResponse(ProgramView.of(found))  # type: ignore[return-value]  # an ASGI app, which is all that is asked


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with storage.opened(os.environ["SVC_DATABASE_URL"]) as store, manager.run():
        app.state.store = store
        garbage.settle()
        yield


app = Starlette(
    routes=[
        Route("/program", program, methods=["POST"]),
        Route("/mcp", StreamableHTTPASGIApp(manager), methods=["POST"]),
    ],
    lifespan=lifespan,
)
