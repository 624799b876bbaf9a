"""GET /docs/<name>: the guides, as Markdown or as a page for browsers."""

from functools import cache

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from presentation import guides
from presentation.operations import Description
from storage.rules.errors import NotFound
from tracking_api.dashboard.pages import templates
from tracking_api.dashboard.pages.page import HEADERS

DESCRIPTION = Description(
    "getGuide",
    "A guide for integrators, as Markdown",
    {200: ()},
    (NotFound,),
    tag="documents",
    media="text/markdown",
)


async def guide(request: Request) -> Response:
    """Return a guide. Raises NotFound."""
    name = request.path_params["name"]
    text = guides.text(name)
    if "text/html" not in request.headers.get("accept", ""):
        return PlainTextResponse(text, media_type="text/markdown", headers={"Vary": "Accept"})
    request.scope["extra_headers"] = HEADERS
    title = text.partition("\n")[0].removeprefix("# ")
    response = templates.render(request, "guide.html", title=title, content=_rendered(name))
    response.headers["Vary"] = "Accept"
    return response


@cache
def _rendered(name: str) -> Markup:
    """Return a guide as HTML. HTML in its text is escaped; wide tables can be scrolled with the keyboard."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    html = markdown.render(guides.text(name)).replace("<pre>", '<pre tabindex="0">')
    html = html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
    return Markup(html)  # noqa: S704 - our own files, rendered with html off
