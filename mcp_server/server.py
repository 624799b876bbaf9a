"""The MCP server: its description of itself, and a handler for each method."""

from functools import cache
from importlib.metadata import version
from typing import Any

from mcp.server import CacheHint, Server
from mcp.server.caching import CacheableMethod
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams
from mcp_types import Tool as PublishedTool

from mcp_server import prompts, resources, tool_calls
from mcp_server.caller import Context, caller_of
from mcp_server.instructions import INSTRUCTIONS
from mcp_server.tools import ALL

FIVE_MINUTES = CacheHint(ttl_ms=5 * 60 * 1000, scope="private")
LISTS: tuple[CacheableMethod, ...] = (
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "server/discover",
)


def create(base_url: str) -> Server[Any]:
    """Return the server; `base_url` is the service's URL in its guides."""

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await tool_calls.call(caller_of(context), params, base_url)

    return Server(
        "affiliate-tracking",
        title="Affiliate tracking",
        version=version("affiliate-tracking-service"),
        instructions=INSTRUCTIONS,
        website_url=base_url,
        cache_hints=dict.fromkeys(LISTS, FIVE_MINUTES),
        get_tool_input_schema=lambda _name: None,  # no argument travels in a header: there is none to check
        on_list_tools=_list_tools,
        on_call_tool=call_tool,
        on_list_resources=resources.list_resources,
        on_list_resource_templates=resources.list_templates,
        on_read_resource=resources.read_resource,
        on_list_prompts=prompts.list_prompts,
        on_get_prompt=prompts.get_prompt,
        on_completion=prompts.complete,
    )


async def _list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
    """List the tools that the key's scopes allow, always in the same order; all if it can get more scopes."""
    caller = caller_of(context)
    scopes = await caller.read(lambda _connection, key: key.scopes)
    return ListToolsResult(tools=[_published()[tool.name] for tool in ALL if caller.signed_in or tool.scope in scopes])


@cache
def _published() -> dict[str, PublishedTool]:
    """Return each tool as it is listed; made by the first request, since it takes 0.1 s."""
    return {tool.name: tool.published() for tool in ALL}
