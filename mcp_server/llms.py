"""GET /llms.txt: the documentation index for language models."""

from mcp_server.resources import ABOUT


def text(base_url: str) -> str:
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
