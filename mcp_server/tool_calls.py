"""tools/call: one read proves the key, its scope and its program, and returns the tool's data."""

import logging
from collections.abc import Mapping
from typing import Any

from mcp import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, TextContent

from mcp_server import arguments, results
from mcp_server.arguments import Arguments
from mcp_server.caller import Caller
from mcp_server.tools import BY_NAME
from mcp_server.tools.tool import Tool, ToolRequest
from storage.access.agent_keys import AgentKey
from storage.access.assistants import Assistant
from storage.rules.errors import InsufficientScope, InternalError, ServiceError, ValidationError
from web.errors import error_body

log = logging.getLogger(__name__)


async def call(caller: Caller, params: CallToolRequestParams, base_url: str) -> CallToolResult:
    """Return a tool's result, or the error. Raises MCPError (-32602) for a tool that the key may not see."""
    try:
        return await _read(caller, params, base_url)
    except MCPError:
        raise
    except ServiceError as error:
        return _error(error, caller)
    except Exception:
        log.exception("a tool failed in request %s", caller.request_id)
        return _error(InternalError(), caller)


async def _read(caller: Caller, params: CallToolRequestParams, base_url: str) -> CallToolResult:
    """Run a tool. Wrong arguments are reported only after the key, its scope and its program are proved."""
    tool = BY_NAME.get(params.name)
    if tool is None:
        await caller.prove()
        raise _unknown()
    parsed, wrong = _parsed(tool, params.arguments or {})

    def run(connection: Any, key: AgentKey | Assistant) -> CallToolResult:
        if parsed is None:
            raise wrong or InternalError
        request = ToolRequest(connection, key, caller.at, base_url, parsed.applied())
        result = tool.result.model_validate(tool.function(request, **dict(parsed)))
        values = results.values(result, caller.as_of(connection), request.applied_query)
        return CallToolResult(content=[TextContent(text=results.text_of(values))], structured_content=values)

    try:
        return await caller.read(run, scope=tool.scope, program_id=getattr(parsed, "program_id", None))
    except InsufficientScope as error:
        if error.details["required_scope"] == tool.scope:
            raise _unknown() from None  # a hidden tool looks like one that does not exist
        raise


def _parsed(tool: Tool, sent: Mapping[str, Any]) -> tuple[Arguments | None, ValidationError | None]:
    try:
        return arguments.parse(tool.arguments, sent), None
    except ValidationError as error:
        return None, error


def _error(error: ServiceError, caller: Caller) -> CallToolResult:
    """Return the error and its hint, with the texts of the HTTP surfaces."""
    return CallToolResult(content=[_text(error_body(error, caller.request_id))], is_error=True)


def _text(values: Any) -> TextContent:
    return TextContent(text=results.compact(values))


def _unknown() -> MCPError:
    return MCPError(INVALID_PARAMS, "Unknown tool: tools/list names those that this key may call.")
