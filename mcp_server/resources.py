"""Resources: the guides of /docs, for clients that can attach them. A tool returns the same texts."""

from collections.abc import Mapping
from functools import cache

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ListResourcesResult,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
)

from mcp_server.results import clean
from presentation import guides
from presentation.guides import Filling

MARKDOWN = "text/markdown"


async def list_resources(base_url: str) -> ListResourcesResult:
    """List the guides of the service at this URL."""
    resources = [
        Resource(
            uri=uri,
            name=name,
            title=guides.titles()[name],
            description=guides.about(name),
            mime_type=MARKDOWN,
            size=len(text.encode()),
        )
        for name, (uri, text) in zip(guides.NAMES, _texts(base_url).items(), strict=True)
    ]
    return ListResourcesResult(resources=resources)


async def read_resource(base_url: str, params: ReadResourceRequestParams) -> ReadResourceResult:
    """Return a guide. Raises MCPError (-32602) for a resource that is not listed."""
    uri, texts = str(params.uri), _texts(base_url)
    if uri not in texts:
        message = "Unknown resource. Call resources/list for the resources."
        raise MCPError(INVALID_PARAMS, message, {"uri": clean(uri)})
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=MARKDOWN, text=texts[uri])])


@cache
def _texts(base_url: str) -> Mapping[str, str]:
    """Return the guides by URI, filled when a client first asks: that takes 0.03 s, which no start has to spend."""
    return {f"guide://{name}": guides.filled(name, Filling(base_url, 1)) for name in guides.NAMES}
