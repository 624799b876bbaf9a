"""The ceilings: a bare route that stores nothing, get_program's read alone, and a tool that does nothing."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, TextContent
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

import storage
from mcp_server import app as mcp_app
from presentation.resources import ProgramView
from storage.lists.programs import read_program
from web.app import settle_garbage
from web.response import ModelResponse


async def echo(request: Request) -> JSONResponse:
    body = await request.json()
    return JSONResponse({"success": True, "click_id": "0" * 34, "partner_code": len(body), "cookie_window_days": 60})


async def program(request: Request) -> Response:
    """Make get_program's read, without its checks."""
    body = await request.json()
    found = await request.app.state.store.read(read_program, body["program_id"])
    return ModelResponse(ProgramView.of(found))  # type: ignore[return-value]  # an ASGI app, which is all that is asked


async def _call(_context: ServerRequestContext[Any, Any], _params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(text="{}")], structured_content={})


noop = StreamableHTTPSessionManager(  # the SDK's transport by itself: its tool does nothing and reads no key
    Server("noop", on_call_tool=_call, get_tool_input_schema=lambda _name: None),
    json_response=True,
    stateless=True,
    security_settings=mcp_app.trusted("http://127.0.0.1:8000"),
)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with storage.opened(os.environ["SVC_DATABASE_URL"]) as store, noop.run():
        app.state.store = store
        settle_garbage()
        yield


bare = Starlette(routes=[Route("/echo", echo, methods=["POST"])])
reading = Starlette(
    routes=[Route("/program", program, methods=["POST"]), Route("/mcp", StreamableHTTPASGIApp(noop), methods=["POST"])],
    lifespan=lifespan,
)
settle_garbage()  # as the service does
