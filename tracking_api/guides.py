"""GET /docs, /docs/<name> and /llms.txt: the guides and their lists, as Markdown or as pages for browsers."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from presentation import guides
from presentation.guides import Filling
from presentation.operations import Description
from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.management import program_settings
from storage.rules.errors import NotFound, ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import markdown, templates
from tracking_api.dashboard.pages.templates import HEADERS
from web.response import accepts_html

DESCRIPTION = Description(
    "getGuide", "A guide for integrators, as Markdown", {200: ()}, (NotFound,), tag="documents", media="text/markdown"
)
INDEX_DESCRIPTION = Description(
    "listGuides", "The list of guides, as Markdown", {200: ()}, (), tag="documents", media="text/markdown"
)
MODELS_DESCRIPTION = INDEX_DESCRIPTION._replace(
    name="listForModels", summary="The list of guides and interfaces for language models", media="text/plain"
)


async def list_guides(request: Request) -> Response:
    """Return the list of guides."""
    titles = [f"- [{title}](/docs/{name})" for name, title in guides.titles().items()]
    return await _page(request) if accepts_html(request.scope) else _markdown("\n".join(["# Guides", "", *titles, ""]))


async def guide(request: Request) -> Response:
    """Return a guide; its page has the values of the visitor's program in its examples. Raises NotFound."""
    name: str = request.path_params["name"]
    if accepts_html(request.scope):
        return await _page(request, name)
    return _markdown(guides.filled(name, Filling(request.app.state.base_url, 1)))


async def llms_txt(request: Request) -> PlainTextResponse:
    """Return the index of the guides and interfaces for language models, in the format of llmstxt.org."""
    base_url = request.app.state.base_url
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
    return PlainTextResponse("\n".join(lines))


def _markdown(text: str) -> Response:
    return PlainTextResponse(text, media_type="text/markdown", headers={"Vary": "Accept"})


async def _page(request: Request, name: str | None = None) -> Response:
    """Render a guide, or their list, for the program in the query or the visitor's first one."""
    request.scope["extra_headers"] = HEADERS
    base_url, storage = request.app.state.base_url, storage_of(request)
    filling, visitor, program = Filling(base_url, 1), None, None
    choices: Sequence[Any] = ()
    try:
        visitor = await authentication.visitor(request)
        choices = await storage.read(program_settings.list_choices, visitor.user_id)
        sent = request.query_params.get("program")
        if chosen := next((each for each in choices if str(each.id) == sent), next(iter(choices), None)):
            code = await storage.read(newest_code, chosen.id)
            program = await storage.read(read_program, chosen.id)
            filling = guides.filling(program, base_url=base_url, code=code)
    except ServiceError:  # a stranger, or no database: guides are for everyone
        pass
    response = templates.render(
        request,
        "guide.html" if name else "guides.html",
        visitor=visitor,
        own_program=program,
        choices=choices,
        subjects=guides.SUBJECTS,
        titles=guides.titles(),
        about=guides.about,
        name=name,
        guide=markdown.rendered(guides.filled(name, filling)) if name else None,
        chosen=f"?program={program.id}" if program and "program" in request.query_params else "",
    )
    response.headers["Vary"] = "Accept"
    return response
