"""tools/call: the tool found, its arguments read, one read, and the answer in the shape of the wire."""

import logging
from collections.abc import Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, SERVER_INFO_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_server import arguments, results
from mcp_server.caller import Caller, Context, caller_of
from mcp_server.tools import BY_NAME
from mcp_server.tools.tool import Tool, ToolRequest
from storage.access.agent_keys import AgentKey
from storage.access.assistants import Assistant
from storage.rules.errors import InsufficientScope, InternalError, ServiceError, ValidationError
from web.errors import error_body

METHOD = "tools/call"
log = logging.getLogger(__name__)


class ToolCalls:
    """The SDK's middleware that answers tools/call whole, and leaves every other method to its handlers.

    A handler's result would be validated twice and copied three times on its way out; what leaves here has passed
    the tool's own models. `info` is what an answer of the newest protocol says about the server.
    """

    def __init__(self, base_url: str, info: Mapping[str, Any]) -> None:
        self._base_url = base_url
        self._modern = {"resultType": "complete", "_meta": {SERVER_INFO_META_KEY: info}}

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Answer a tool call. Raises MCPError (-32602) for a tool that the key does not show, or malformed params."""
        if ctx.method != METHOD:
            return await call_next(ctx)
        caller = caller_of(ctx)
        envelope = self._modern if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else {}
        try:
            return {**envelope, **_answered(await self._ask(caller, ctx.params or {}))}
        except ServiceError as refusal:
            return {**envelope, **_refused(refusal, caller)}
        except MCPError:
            raise
        except Exception:
            log.exception("a tool failed in request %s", caller.request_id)
            return {**envelope, **_refused(InternalError(), caller)}

    async def _ask(self, caller: Caller, params: Mapping[str, Any]) -> results.Result:
        tool, given = _named(params)
        if tool is None:
            await caller.prove()
            raise _unknown()
        try:
            return await _read(caller, tool, given, self._base_url)
        except InsufficientScope as refusal:
            if refusal.details["required_scope"] == tool.scope:
                raise _unknown() from None  # nobody can tell a hidden tool from one that does not exist
            raise


async def _read(caller: Caller, tool: Tool, given: Mapping[str, Any], base_url: str) -> results.Result:
    """Answer in one read that proves the key, its scope and its program; wrong arguments are told after these."""
    asked: Any = None
    wrong: ValidationError | None = None
    try:
        asked = arguments.parse(tool.arguments, given)
    except ValidationError as refusal:
        wrong = refusal

    def answer(connection: Any, key: AgentKey | Assistant) -> results.Result:
        if wrong is not None:
            raise wrong
        return tool.answer(ToolRequest(connection, key, caller.at, base_url), asked)

    return await caller.read(answer, scope=tool.scope, program_id=getattr(asked, "program_id", None))


def _named(params: Mapping[str, Any]) -> tuple[Tool | None, Mapping[str, Any]]:
    """Return the tool that is called (None: there is none) and what it is given. Raises MCPError where malformed."""
    name, given = params.get("name"), params.get("arguments")
    if not isinstance(name, str) or not isinstance(given, Mapping | None):
        raise MCPError(INVALID_PARAMS, "tools/call takes a name and an object of arguments.")
    return BY_NAME.get(name), given or {}


def _answered(result: results.Result) -> dict[str, Any]:
    values = results.json_of(result)
    content = [{"type": "text", "text": results.compact(values)}]
    return {"content": content, "structuredContent": values, "isError": False}


def _refused(refusal: ServiceError, caller: Caller) -> dict[str, Any]:
    """Tell the model what was wrong and what to do, in the words of the HTTP surfaces."""
    body = error_body(refusal, caller.request_id)
    return {"content": [{"type": "text", "text": results.compact(body)}], "isError": True}


def _unknown() -> MCPError:
    return MCPError(INVALID_PARAMS, "Unknown tool: tools/list names those that this key may call.")
