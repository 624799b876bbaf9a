"""One request, one answer: a plain JSON-RPC request served where it arrives, in either era of the protocol.

The SDK serves clients that open with `initialize` (2025-11-25 and before) through a connection of its own, two tasks
and six streams for every POST, and takes an answer of the newest protocol through three models. A stateless server
that answers with JSON needs neither: the SDK's own checks and its kernel (`ServerRunner`) do the rest. What is no
plain request or fails a check (notifications, batches, wrong headers) is left to the SDK to answer.
"""

import logging
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.connection import Connection
from mcp.server.lowlevel.server import Server
from mcp.server.runner import ServerRunner
from mcp.server.streamable_http import check_accept_headers
from mcp.server.transport_security import TransportSecurityMiddleware
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundModernRoute,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp.shared.jsonrpc_dispatcher import handler_exception_to_error_data
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import DEFAULT_NEGOTIATED_VERSION, INTERNAL_ERROR, ErrorData, JSONRPCRequest, RequestId
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from pydantic_core import from_json
from starlette.requests import Request

from web.response import JsonResponse

STREAMED = "subscriptions/listen"  # the one method whose answer is a stream
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

    async def notify(self, *_: Any) -> None:
        """Send nothing: a JSON answer has no room beside it."""

    async def progress(self, *_: Any) -> None:
        """Send nothing, likewise."""


async def answer(
    server: Server[Any], security: TransportSecurityMiddleware, request: Request, content: bytes
) -> JsonResponse | None:
    """Return the answer to a plain request that passes every check; None for anything else."""
    try:
        decoded = from_json(content)
        asked = JSONRPCRequest.model_validate(decoded)
    except (ValidationError, ValueError):
        return None
    version = request.headers.get(MCP_PROTOCOL_VERSION_HEADER, DEFAULT_NEGOTIATED_VERSION)
    modern = version not in HANDSHAKE_PROTOCOL_VERSIONS
    connection = _modern(request, decoded) if modern else Connection.from_envelope(version, None, None)
    if connection is None or asked.method == STREAMED or not check_accept_headers(request)[0]:
        return None
    if await security.validate_request(request, is_post=True) is not None:
        return None
    outcome = await _outcome(server, connection, request, asked)
    status = ERROR_CODE_HTTP_STATUS.get(outcome["error"]["code"], 200) if modern and "error" in outcome else 200
    return JsonResponse({"jsonrpc": "2.0", "id": asked.id, **outcome}, status)


def _modern(request: Request, decoded: Any) -> Connection | None:
    """Return the connection that a request of the newest protocol describes; None where headers or body are wrong."""
    if find_duplicated_routing_header(request.headers.items()) is not None:
        return None
    route = classify_inbound_request(decoded, headers=dict(request.headers))
    if not isinstance(route, InboundModernRoute):
        return None
    return Connection.from_envelope(route.protocol_version, route.client_info, route.client_capabilities)


async def _outcome(
    server: Server[Any], connection: Connection, request: Request, asked: JSONRPCRequest
) -> dict[str, Any]:
    exchange = Exchange(
        TransportContext(kind="streamable-http", can_send_request=False, headers=request.headers),
        asked.id,
        ServerMessageMetadata(request_context=request),
    )
    runner = ServerRunner(server, connection, {})
    try:
        return {"result": await runner.on_request(exchange, asked.method, asked.params)}
    except Exception as error:
        told = handler_exception_to_error_data(error)
        if told is None:
            log.exception("request %s failed", request.scope["request_id"])
            told = ErrorData(code=INTERNAL_ERROR, message="Internal server error")
        return {"error": told.model_dump(mode="json", by_alias=True, exclude_none=True)}
