"""GET /docs, /docs/<name> and /llms.txt: the guides and their lists, as Markdown or as pages for browsers."""

import re
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from presentation import guides
from presentation.operations import Description
from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.management import program_settings
from storage.rules.errors import NotFound, ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.pages import templates
from web.response import accepts_html

MARKDOWN: Any = {"tag": "documents", "media": "text/markdown"}
DESCRIPTION = Description("getGuide", "A guide for integrators, as Markdown", {200: ()}, (NotFound,), **MARKDOWN)
INDEX_DESCRIPTION = Description("listGuides", "The list of guides, as Markdown", {200: ()}, (), **MARKDOWN)
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
    return _markdown(guides.filled(name, guides.Filling(request.app.state.base_url, 1)))


async def llms_txt(request: Request) -> PlainTextResponse:
    """Return the index of the guides and interfaces for language models, in the format of llmstxt.org."""
    named = [(guides.titles()[name], name, guides.about(name)) for name in guides.NAMES]
    template = templates.environment.get_template("llms.txt")
    return PlainTextResponse(template.render(base_url=request.app.state.base_url, guides=named) + "\n")


def _markdown(text: str) -> Response:
    return PlainTextResponse(text, media_type="text/markdown", headers={"Vary": "Accept"})


async def _page(request: Request, name: str | None = None) -> Response:
    request.scope["extra_headers"] = templates.HEADERS
    base_url = request.app.state.base_url
    storage = authentication.storage_of(request)
    filling, visitor, program = guides.Filling(base_url, 1), None, None
    choices: Sequence[Any] = ()
    with suppress(ServiceError):  # a stranger, or no database: guides are for everyone
        visitor = await authentication.visitor(request)
        choices = await storage.read(program_settings.list_choices, visitor.user_id)
        sent = request.query_params.get("program")
        if chosen := next((each for each in choices if str(each.id) == sent), next(iter(choices), None)):
            code = await storage.read(newest_code, chosen.id)
            program = await storage.read(read_program, chosen.id)
            filling = guides.filling(program, base_url=base_url, code=code)
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
        guide=_rendered(guides.filled(name, filling)) if name else None,
        chosen=f"?program={program.id}" if program and "program" in request.query_params else "",
    )
    response.headers["Vary"] = "Accept"
    return response


class _Renderer(RendererHTML):
    """CommonMark's HTML: a link beside each section, a button beside code, tables that can be scrolled."""

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        opening = tokens[idx - 2]
        link = Markup('<a class="anchor" href="#{}" aria-label="Link to {}">#</a>')
        written = link.format(opening.attrGet("id"), tokens[idx - 1].content) if opening.attrGet("id") else ""
        return f"{written}{self.renderToken(tokens, idx, options, env)}"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002 - the signature
        block = Markup(
            '<div class="code"><pre id="code-{0}" tabindex="0" aria-label="Code {0}"><code>{1}</code></pre>'
            '<button type="button" class="copy">Copy<span class="unseen"> code {0}</span></button>'
            "</div>\n"
        )
        env["blocks"] = env.get("blocks", 0) + 1
        return block.format(env["blocks"], tokens[idx].content)

    code_block = fence

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002
        return '<div class="scroll" tabindex="0"><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002
        return "</table></div>"


@lru_cache(maxsize=64)
def _rendered(text: str) -> dict[str, Any]:
    """Return Markdown as HTML, and its main sections: the id and the title of each. HTML in its text is escaped."""
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    env: dict[str, Any] = {}
    tokens = markdown.parse(text, env)
    sections = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag in {"h2", "h3"}:
            name = re.sub(r"[^a-z0-9]+", "-", content.content.lower()).strip("-")
            title = "".join(child.content for child in content.children or [])
            opening.attrSet("id", name)
            if opening.tag == "h2":
                sections.append((name, title))
    html = markdown.renderer.render(tokens, markdown.options, env)
    return {"html": Markup(html), "sections": sections}  # noqa: S704 - html is off
