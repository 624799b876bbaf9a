"""GET /docs and /docs/<name>: the guides and their list, as Markdown or as pages for browsers."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from presentation import guides
from presentation.guides import Filling
from presentation.operations import Description
from storage.access.sessions import Visitor
from storage.lists.partners import newest_code
from storage.lists.programs import Program, read_program
from storage.management import program_settings
from storage.management.program_settings import ProgramChoice
from storage.rules.errors import NotFound, ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import markdown, templates
from tracking_api.dashboard.pages.templates import HEADERS
from web.error_page import accepts_html

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
DESCRIPTION = Description(
    "getGuide", "A guide for integrators, as Markdown", {200: ()}, (NotFound,), tag="documents", media="text/markdown"
)
INDEX_DESCRIPTION = Description(
    "listGuides", "The list of guides, as Markdown", {200: ()}, (), tag="documents", media="text/markdown"
)
SUBJECTS = {
    "Integrate": ("integration", "snippets", "tracker", "sdk", "payments", "cases"),
    "Check": ("verify", "cli", "errors"),
    "Run a program": (*guides.PEOPLE, "metrics", "key-rotation"),
    "Operators": guides.OPERATORS,
}


class OwnValues(NamedTuple):
    """Whose values the examples have: a visitor's program, or None for the values of the guides."""

    filling: Filling
    program: Program | None = None
    choices: Sequence[ProgramChoice] = ()
    visitor: Visitor | None = None


async def list_guides(request: Request) -> Response:
    """Return the list of guides."""
    return await _page(request) if accepts_html(request.scope) else _markdown(guides.listed())


async def guide(request: Request) -> Response:
    """Return a guide; its page has the values of the visitor's program in its examples. Raises NotFound."""
    name: str = request.path_params["name"]
    text = guides.filled(name, Filling(request.app.state.base_url, 1))
    return await _page(request, name) if accepts_html(request.scope) else _markdown(text)


def _markdown(text: str) -> Response:
    return PlainTextResponse(text, media_type="text/markdown", headers={"Vary": "Accept"})


async def _page(request: Request, name: str | None = None) -> Response:
    request.scope["extra_headers"] = HEADERS
    own = await _own_values(request)
    response = templates.render(
        request,
        "guide.html" if name else "guides.html",
        visitor=own.visitor,
        own=own,
        subjects=SUBJECTS,
        titles=guides.titles(),
        about=_about,
        name=name,
        guide=markdown.rendered(guides.filled(name, own.filling)) if name else None,
        chosen=f"?program={own.program.id}" if own.program and "program" in request.query_params else "",
    )
    response.headers["Vary"] = "Accept"
    return response


async def _own_values(request: Request) -> OwnValues:
    """Return what fills the examples: the program in the query or the visitor's first one, with a partner's code."""
    base_url, storage = request.app.state.base_url, storage_of(request)
    try:
        visitor = await authentication.visitor(request)
        choices = await storage.read(program_settings.list_choices, visitor.user_id)
        sent = request.query_params.get("program")
        chosen = next((each for each in choices if str(each.id) == sent), choices[0] if choices else None)
        if chosen is None:
            return OwnValues(Filling(base_url, 1), visitor=visitor)
        program = await storage.read(read_program, chosen.id)
        code = await storage.read(newest_code, program.id)
    except ServiceError:  # a stranger, or no database: guides are for everyone
        return OwnValues(Filling(base_url, 1))
    return OwnValues(guides.filling(program, base_url=base_url, code=code), program, choices, visitor)


@cache
def _about(name: str) -> str:
    """Return the first sentence of a guide."""
    paragraphs = (each for each in guides.text(name).split("\n\n")[1:] if not each.startswith(("#", "```", "|")))
    return _LINK.sub(r"\1", next(paragraphs).replace("\n", " ")).partition(". ")[0].removesuffix(".") + "."
