"""GET /docs/<name>: the guides for integrators, as Markdown."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse

from web import guides


async def guide(request: Request) -> PlainTextResponse:
    """Answer with a guide. Raises NotFound."""
    return PlainTextResponse(guides.text(request.path_params["name"]), media_type="text/markdown")
