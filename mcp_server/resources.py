"""Resources: the guides of /docs, for clients that can attach them, and their index. A tool returns the same texts."""

from collections.abc import Mapping
from functools import cached_property

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)

from mcp_server.caller import Context
from mcp_server.results import clean
from presentation import guides
from presentation.guides import Filling

MARKDOWN = "text/markdown"


class Resources:
    """The resources of a service, whose URL stands in their examples."""

    def __init__(self, base_url: str) -> None:
        self._filling = Filling(base_url, 1)

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        """The guides by URI, filled when a client first asks: that takes 0.03 s, which no start has to spend."""
        return {f"guide://{name}": guides.filled(name, self._filling) for name in guides.NAMES}

    async def list(self, _context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        """List the guides."""
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=uri,
                    name=name,
                    title=guides.titles()[name],
                    description=guides.about(name),
                    mime_type=MARKDOWN,
                    size=len(text.encode()),
                )
                for name, (uri, text) in zip(guides.NAMES, self._texts.items(), strict=True)
            ]
        )

    async def read(self, _context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Return a guide. Raises MCPError (-32602) for a resource that is not listed."""
        uri = str(params.uri)
        if uri not in self._texts:
            wrong = {"uri": clean(uri)}
            raise MCPError(INVALID_PARAMS, "Unknown resource. Call resources/list for the resources.", wrong)
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=self._texts[uri])])


async def list_templates(_context: Context, _params: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
    """List no templates; get_integration_guide returns the guides for one program."""
    return ListResourceTemplatesResult(resource_templates=[])


def llms_txt(base_url: str) -> str:
    """Return the index as Markdown, in the format of llmstxt.org."""
    lines = [
        "# Affiliate tracking service",
        "",
        "> Records clicks, leads, sales and refunds of affiliate programs, links each customer to the partner who sent",
        "> them, and keeps a ledger of the commissions that real sales earn. Amounts are integer cents.",
        "",
        "## Guides",
        "",
        *(f"- [{guides.titles()[name]}]({base_url}/docs/{name}): {guides.about(name)}" for name in guides.NAMES),
        "",
        "## Interfaces",
        "",
        f"- [OpenAPI document]({base_url}/openapi.json): every HTTP operation with all its error codes.",
        f"- MCP server at {base_url}/mcp: read-only tools over streamable HTTP; OAuth, or X-Agent-Key: agt_...",
        f"- Agent API under {base_url}/api/agent/v1: reads and changes the same data, with the same kind of key.",
        "",
    ]
    return "\n".join(lines)
