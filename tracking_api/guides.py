"""GET /docs and /docs/<name>: the guides and their list, as Markdown or as pages for browsers."""

from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from presentation import guides
from presentation.operations import Description
from storage.rules.errors import NotFound
from tracking_api.dashboard.pages import templates
from tracking_api.dashboard.pages.page_headers import HEADERS

DESCRIPTION = Description(
    "getGuide",
    "A guide for integrators, as Markdown",
    {200: ()},
    (NotFound,),
    tag="documents",
    media="text/markdown",
)


INDEX_DESCRIPTION = Description(
    "listGuides", "The list of guides, as Markdown", {200: ()}, (), tag="documents", media="text/markdown"
)


async def list_guides(request: Request) -> Response:
    """Return the list of guides."""
    return _response(request, guides.listed())


async def guide(request: Request) -> Response:
    """Return a guide. Raises NotFound."""
    return _response(request, guides.text(request.path_params["name"]))


def _response(request: Request, text: str) -> Response:
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse(text, media_type="text/markdown", headers={"Vary": "Accept"})
    request.scope["extra_headers"] = HEADERS
    title = text.partition("\n")[0].removeprefix("# ")
    response = templates.render(request, "guide.html", title=title, content=_rendered(text))
    response.headers["Vary"] = "Accept"
    return response


@cache
def _rendered(text: str) -> Markup:
    """Return Markdown as HTML. HTML in its text is escaped; wide tables can be scrolled with the keyboard."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    html = markdown.render(text).replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    return Markup(html)  # noqa: S704 - our own files, rendered with html off
