"""tools/call of clients that open with `initialize`, handled without the SDK's transport for them.

That transport serves each POST through two tasks and six streams, which cost as much as the tool's own work. Only a
plain tool call is handled here; any other request (another method, an Origin, a header sent twice, a Host
with a wildcard's port, malformed parameters) is left to the SDK, which also words every error.
"""

from collections.abc import Sequence

from mcp import MCPError
from mcp_types import DEFAULT_NEGOTIATED_VERSION, CallToolRequestParams, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server import tool_calls
from mcp_server.caller import SCOPE_MEMBER
from web import body
from web.response import JsonResponse


class HandshakeToolCalls:
    """ASGI inside McpMiddleware: handles plain tool calls of the handshake era and passes the rest to `app`."""

    def __init__(self, app: ASGIApp, *, base_url: str, hosts: Sequence[str]) -> None:
        self._app = app
        self._base_url = base_url
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        content = (await receive())["body"]  # McpMiddleware has read it whole
        response = await self._respond(scope, content) if self._is_plain(scope) else None
        await (response or self._app)(scope, body.replay(content, receive), send)

    def _is_plain(self, scope: Scope) -> bool:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        return (
            headers.get(b"mcp-protocol-version", DEFAULT_NEGOTIATED_VERSION) in HANDSHAKE_PROTOCOL_VERSIONS
            and "application/json" in headers.get(b"accept", "")
            and headers.get(b"host") in self._hosts
            and b"origin" not in headers
            and len(headers) == len(scope["headers"])
        )

    async def _respond(self, scope: Scope, content: bytes) -> JsonResponse | None:
        try:
            request = JSONRPCRequest.model_validate_json(content)
            if request.method != "tools/call":
                return None
            params = CallToolRequestParams.model_validate(request.params)
        except ValidationError:
            return None
        try:
            result = await tool_calls.call(scope[SCOPE_MEMBER], params, self._base_url)
        except MCPError as error:
            outcome = {"error": error.error.model_dump(mode="json", by_alias=True, exclude_none=True)}
        else:
            dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"result_type"})
            outcome = {"result": dumped}
        return JsonResponse({"jsonrpc": "2.0", "id": request.id, **outcome})
