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
from mcp_server.sanitize import clean
from presentation import guides
from presentation.guides import Filling

MARKDOWN = "text/markdown"
ABOUT = {
    "integration": ("Integration guide", "The calls that lead to a commission, test mode, and what to check first."),
    "snippets": ("Snippets", "Code for each framework and language: Next.js, Node.js, Python, PHP, Ruby."),
    "cases": ("Special cases", "Consent, policies, other domains, ad blockers, Safari, guests, bots, trials."),
    "tracker": ("The browser tracker", "The script tag, consent, other domains, your own proxy, content policies."),
    "sdk": ("SDKs", "The SDKs for browsers and for servers, which never throw into a checkout."),
    "cli": ("The svc command", "Every `svc` command for a shop's project: set-up, status, tests, explanations."),
    "verify": (
        "Verifying an integration",
        "Seven steps from the tracker to a live sale, each with its commands.",
    ),
    "payments": ("Payments", "Sales, renewals and refunds that a connected Stripe account reports."),
    "metrics": ("Glossary of metrics", "What each number of a report counts, and how trends are computed."),
    "errors": ("Error codes", "Every error code, what happened, and what to do."),
    "key-rotation": ("Replacing a program key", "How to replace a program key, before and after its deadline."),
}


class Resources:
    """The resources of a service, whose URL stands in their examples."""

    def __init__(self, base_url: str) -> None:
        self._filling = Filling(base_url, 1)

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        """The guides by URI, filled when a client first asks: that takes 0.03 s, which no start has to spend."""
        return {f"guide://{name}": guides.filled(name, self._filling) for name in ABOUT}

    async def list(self, _context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        """List the guides."""
        return ListResourcesResult(
            resources=[
                Resource(
                    uri=uri,
                    name=name,
                    title=title,
                    description=description,
                    mime_type=MARKDOWN,
                    size=len(text.encode()),
                )
                for (name, (title, description)), (uri, text) in zip(ABOUT.items(), self._texts.items(), strict=True)
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
    guides = [f"- [{title}]({base_url}/docs/{name}): {about}" for name, (title, about) in ABOUT.items()]
    lines = [
        "# Affiliate tracking service",
        "",
        "> Records clicks, leads, sales and refunds of affiliate programs, links each customer to the partner who sent",
        "> them, and keeps a ledger of the commissions that real sales earn. Amounts are integer cents.",
        "",
        "## Guides",
        "",
        *guides,
        "",
        "## Interfaces",
        "",
        f"- [OpenAPI document]({base_url}/openapi.json): every HTTP operation with all its error codes.",
        f"- MCP server at {base_url}/mcp: read-only tools over streamable HTTP; OAuth, or X-Agent-Key: agt_...",
        f"- Agent API under {base_url}/api/agent/v1: reads and changes the same data, with the same kind of key.",
        "",
    ]
    return "\n".join(lines)
