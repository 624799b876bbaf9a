"""The calls of assistants: one read proves the key, its scope and its program, and returns the tool's data."""

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import mcp_types as types
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError as Malformed
from starlette.types import Scope as HttpScope

from mcp_server import results
from mcp_server.tools.tool import Key, Tool, ToolRequest
from storage import Reader
from storage.access import agent_keys, assistants
from storage.engine import read_queue
from storage.engine.sealing import Sealer
from storage.rules import errors, keys
from storage.rules.scope import Scope
from web.errors import error_body
from web.response import JsonResponse

log = logging.getLogger(__name__)
UNKNOWN = "Unknown tool: tools/list names those that this key may call."
Value = TypeVar("Value")
SCOPE_MEMBER = "svc.caller"
Context = ServerRequestContext[Any, Any]


@dataclass(repr=False)  # it would show the credential
class Caller:
    """The credential of one request. It holds a Reader, so that nothing here can write."""

    reader: Reader
    credential: str | None
    at: datetime
    request_id: str
    resource: str
    proven: bool = False  # a read has confirmed the credential
    rejection: errors.ServiceError | None = None  # of the whole request; 403 for an access token (RFC 6750, 3.1)

    @property
    def signed_in(self) -> bool:
        return self.credential is not None and self.credential.startswith(keys.ACCESS_PREFIX)

    async def read(
        self, operation: Callable[[Any, Key], Value], *, scope: Scope | None = None, program_id: int | None = None
    ) -> Value:
        """Run `operation(connection, key)` in the same read that proves the key. Raises MCPError with a `rejection`."""
        granted: tuple[Scope, ...] = ()

        def prove(connection: Any) -> Key:
            nonlocal granted
            of_assistant = partial(assistants.authorize, resource=self.resource)
            authorize: Any = of_assistant if self.signed_in else agent_keys.authorize
            about = {"scope": scope, "program_id": program_id, "at": self.at}
            try:
                key: Key = authorize(connection, self.credential, **about)
            except (errors.InsufficientScope, errors.ProgramNotAllowed):
                self.proven = True
                raise
            self.proven, granted = True, key.scopes
            return key

        try:
            if self.reader.replica:  # the primary proves the key
                return await self.reader.report(operation, await self.reader.read(prove))
            return await self.reader.read(lambda connection: operation(connection, prove(connection)))
        except errors.InsufficientScope as error:
            if not self.signed_in:
                raise
            error.details.setdefault("granted_scopes", granted)
            self.rejection = error
        except (errors.InvalidKey, errors.WrongKeyType, errors.Overloaded, errors.StorageUnavailable) as error:
            self.rejection = error
        raise MCPError(types.INVALID_REQUEST, self.rejection.text)

    def as_of(self, connection: Any) -> datetime:
        """Return the time of the data that a connection reads."""
        newest = read_queue.newest(connection) if self.reader.replica else None
        return min(self.at, newest) if newest else self.at

    async def prove(self) -> None:
        """Prove the credential unless a read has done so. Raises the rejection, also an earlier one."""
        if not self.proven and self.rejection is None:
            with suppress(MCPError):  # the rejection says it
                await self.read(lambda _connection, _key: None)
        if self.rejection is not None:
            raise self.rejection


def caller_of(context: Context) -> Caller:
    """Return the caller that the middleware stored in the request's scope."""
    assert context.request is not None  # noqa: S101 - over HTTP there is one
    caller: Caller = context.request.scope[SCOPE_MEMBER]
    return caller


@dataclass(frozen=True)
class ToolCalls:
    """The tools, by name, of a service at `base_url`, which requests may call by these names of `hosts`."""

    tools: Mapping[str, Tool]
    base_url: str
    hosts: Collection[str]
    sealer: Sealer

    async def list(self, context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """List the tools that the key's scopes allow, always in the same order; all if it can get more scopes."""
        caller = caller_of(context)
        scopes = await caller.read(lambda _connection, key: key.scopes)
        shown = [each for each in self.tools.values() if caller.signed_in or each.scope in scopes]
        return types.ListToolsResult(tools=[each.published for each in shown])

    async def call(self, caller: Caller, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Return a tool's result, or the error. Raises MCPError (-32602) for a tool that the key may not see."""
        try:
            return await self._read(caller, params)
        except MCPError:
            raise
        except errors.ServiceError as error:
            failed = error
        except Exception:
            log.exception("a tool failed in request %s", caller.request_id)
            failed = errors.InternalError()
        text = results.compact(error_body(failed, caller.request_id))  # with the texts of the HTTP surfaces
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)

    async def respond(self, scope: HttpScope, content: bytes) -> JsonResponse | None:
        """Return the response to a plain tool call of the handshake era; None to any other: the SDK has those."""
        # The SDK serves each POST through two tasks and six streams, which cost as much as the tool's own work.
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if not (
            headers.get(b"mcp-protocol-version", types.DEFAULT_NEGOTIATED_VERSION) in HANDSHAKE_PROTOCOL_VERSIONS
            and "application/json" in headers.get(b"accept", "")
            and headers.get(b"host") in self.hosts
            and b"origin" not in headers
            and len(headers) == len(scope["headers"])
        ):
            return None
        try:
            request = types.JSONRPCRequest.model_validate_json(content)
            if request.method != "tools/call":
                return None
            params = types.CallToolRequestParams.model_validate(request.params)
        except Malformed:
            return None
        try:
            result = await self.call(scope[SCOPE_MEMBER], params)
        except MCPError as error:
            outcome = {"error": error.error.model_dump(mode="json", by_alias=True, exclude_none=True)}
        else:
            dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"result_type"})
            outcome = {"result": dumped}
        return JsonResponse({"jsonrpc": "2.0", "id": request.id, **outcome})

    async def _read(self, caller: Caller, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Run a tool. Wrong arguments are reported only after the key, its scope and its program are proved."""
        tool = self.tools.get(params.name)
        if tool is None:
            await caller.prove()
            raise MCPError(types.INVALID_PARAMS, UNKNOWN)
        parsed = tool.parse(params.arguments or {})

        def run(connection: Any, key: Key) -> types.CallToolResult:
            if isinstance(parsed, errors.ValidationError):
                raise parsed
            applied = results.json_of(parsed.model_dump(exclude={"cursor"}), is_untrusted=True)
            request = ToolRequest(connection, key, caller.at, self.base_url, applied, self.sealer)
            result = tool.run(request, **dict(parsed))
            about = {"as_of": caller.as_of(connection), "applied_query": request.applied_query}
            values = results.shown({**results.json_of(about), **result})
            return types.CallToolResult(
                content=[types.TextContent(text=results.text_of(values))], structured_content=values
            )

        try:
            return await caller.read(run, scope=tool.scope, program_id=getattr(parsed, "program_id", None))
        except errors.InsufficientScope as error:
            if error.details["required_scope"] == tool.scope:  # a hidden tool looks like one that does not exist
                raise MCPError(types.INVALID_PARAMS, UNKNOWN) from None
            raise
