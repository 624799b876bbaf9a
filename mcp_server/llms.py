"""GET /llms.txt: the map of the documentation for models."""

from mcp_server.resources import ABOUT


def text(base_url: str) -> str:
    """Return the map as Markdown, in the shape that llmstxt.org describes."""
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
        f"- [OpenAPI document]({base_url}/openapi.json): every HTTP operation, with every code it can answer with.",
        f"- MCP server at {base_url}/mcp: read-only tools over streamable HTTP; OAuth, or X-Agent-Key: agt_...",
        f"- Agent API under {base_url}/api/agent/v1: the same data, and changes, with the same kind of key.",
        "",
    ]
    return "\n".join(lines)
