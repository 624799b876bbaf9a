"""The MCP server: what it says of itself, and a handler for each method that it serves."""

import logging
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from mcp_server import arguments, prompts, resources, results
from mcp_server.caller import SCOPE_MEMBER, Caller
from mcp_server.instructions import INSTRUCTIONS
from mcp_server.tools import ALL, BY_NAME
from mcp_server.tools.tool import Call, Tool
from storage.agent_keys import AgentKey
from storage.rules.errors import InsufficientScope, InternalError, Refusal, ValidationError
from web.errors import error_body

FIVE_MINUTES = CacheHint(ttl_ms=5 * 60 * 1000, scope="private")
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read", "server/discover")
PUBLISHED = {tool.name: tool.published() for tool in ALL}
log = logging.getLogger(__name__)
Context = ServerRequestContext[Any, Any]


def create(base_url: str) -> Server[Any]:
    """Return the server; `base_url` is where its guides say that the service is."""

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await _call_tool(context, params, base_url)

    server: Server[Any] = Server(
        "affiliate-tracking",
        title="Affiliate tracking",
        version=version("affiliate-tracking-service"),
        instructions=INSTRUCTIONS,
        website_url=base_url,
        cache_hints={method: FIVE_MINUTES for method in LISTS},
        get_tool_input_schema=lambda name: PUBLISHED[name].input_schema if name in PUBLISHED else None,
        on_list_tools=_list_tools,
        on_call_tool=call_tool,
        on_list_resources=resources.listed,
        on_list_resource_templates=resources.templates,
        on_read_resource=resources.read,
        on_list_prompts=prompts.listed,
        on_get_prompt=prompts.get,
        on_completion=prompts.complete,
    )
    server.middleware.clear()  # OpenTelemetry's: nobody exports spans here, and it takes its share of every call
    return server


async def _list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
    """List the tools that the key's scopes allow, always in the same order."""
    scopes = await caller_of(context).read(lambda _connection, key: key.scopes)
    return ListToolsResult(tools=[PUBLISHED[tool.name] for tool in ALL if tool.scope in scopes])


async def _call_tool(context: Context, params: CallToolRequestParams, base_url: str) -> CallToolResult:
    caller = caller_of(context)
    tool = BY_NAME.get(params.name)
    try:
        if tool is None:
            await caller.prove()
            raise _unknown()
        return _answered(await _ask(caller, tool, params.arguments or {}, base_url))
    except InsufficientScope as refusal:
        if tool is not None and refusal.details["required_scope"] == tool.scope:
            raise _unknown() from None  # a hidden tool is told from one that does not exist by nobody
        return _refused(refusal, context)
    except Refusal as refusal:
        return _refused(refusal, context)
    except MCPError:
        raise
    except Exception:
        log.exception("tool %s failed in request %s", params.name if tool else "?", _request_id(context))
        return _refused(InternalError(), context)


async def _ask(caller: Caller, tool: Tool, given: Mapping[str, Any], base_url: str) -> results.Result:
    """Answer in one read that proves the key, its scope and its program; wrong arguments are told after these."""
    wrong: ValidationError | None = None
    asked: Any = None
    try:
        asked = arguments.parse(tool.arguments, given)
    except ValidationError as refusal:
        wrong = refusal

    def answer(connection: Any, key: AgentKey) -> results.Result:
        if wrong is not None:
            raise wrong
        return tool.answer(Call(connection, key, caller.at, base_url), asked)

    return await caller.read(answer, scope=tool.scope, program_id=getattr(asked, "program_id", None))


def caller_of(context: Context) -> Caller:
    """Return who calls, as the gate left it in the request's scope."""
    caller: Caller = context.request.scope[SCOPE_MEMBER]
    return caller


def _answered(result: results.Result) -> CallToolResult:
    values = results.json_of(result)
    return CallToolResult(content=[TextContent(text=results.compact(values))], structured_content=values)


def _refused(refusal: Refusal, context: Context) -> CallToolResult:
    """Tell the model what was wrong and what to do, in the words of the HTTP surfaces."""
    body = error_body(refusal, _request_id(context))
    return CallToolResult(content=[TextContent(text=results.compact(body))], is_error=True)


def _unknown() -> MCPError:
    return MCPError(INVALID_PARAMS, "Unknown tool: tools/list names those that this key may call.")


def _request_id(context: Context) -> str:
    request_id: str = context.request.scope["request_id"]
    return request_id
