"""Requests of clients that open with `initialize` (2025-11-25 and before), each served where it arrives.

The SDK serves these through a connection of its own: two tasks and six streams for every POST, more than its handler
takes. A stateless server that answers with JSON needs none of that; the SDK's kernel (`serve_one`, its driver for one
exchange) does the rest. Whatever is not a plain request (notifications, batches, wrong headers) is left to the SDK.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_one
from mcp.server.streamable_http import check_accept_headers
from mcp.server.transport_security import TransportSecurityMiddleware
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import DEFAULT_NEGOTIATED_VERSION, INTERNAL_ERROR, ErrorData, JSONRPCRequest, RequestId
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.requests import Request

from web.answer import Answer

log = logging.getLogger(__name__)


@dataclass
class Exchange:
    """The SDK's context of one request; nothing but its answer goes back to the client."""

    transport: TransportContext
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(self, method: str, *_: Any) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: Any = None) -> None:
        """Send nothing: a JSON answer has no room beside it."""

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send nothing, likewise."""


async def answer(
    server: Server[Any], security: TransportSecurityMiddleware, request: Request, content: bytes
) -> Answer | None:
    """Return the answer to a plain request of the handshake era; None for anything else."""
    version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER, DEFAULT_NEGOTIATED_VERSION)
    if version not in HANDSHAKE_PROTOCOL_VERSIONS or not check_accept_headers(request)[0]:
        return None
    try:
        asked = JSONRPCRequest.model_validate_json(content)
    except ValidationError:
        return None
    if await security.validate_request(request, is_post=True) is not None:
        return None
    return Answer({"jsonrpc": "2.0", "id": asked.id, **await _outcome(server, version, request, asked)})


async def _outcome(server: Server[Any], version: str, request: Request, asked: JSONRPCRequest) -> dict[str, Any]:
    exchange = Exchange(
        TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers),
        asked.id,
        ServerMessageMetadata(request_context=request),
    )
    connection = Connection.from_envelope(version, None, None)
    try:
        served = serve_one(server, exchange, asked.method, asked.params, connection=connection, lifespan_state={})
        return {"result": await served}
    except Exception as error:
        told = handler_exception_to_error_data(error)
        if told is None:
            log.exception("request %s failed", request.scope["request_id"])
            told = ErrorData(code=INTERNAL_ERROR, message="Internal server error")
        return {"error": told.model_dump(mode="json", by_alias=True, exclude_none=True)}
