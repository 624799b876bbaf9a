"""Refused calls, grouped by cause: what happened, what to do about it, and the latest of each."""

import re
from functools import cache
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from presentation import guides
from storage.engine.pagination import Paging
from storage.reading import rejected_calls
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import filters, page_context, templates

EXAMPLES = 5
_ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)


class Advice(NamedTuple):
    """A refusal as the guide explains it."""

    what_happened: str
    what_to_do: str


async def index(request: Request) -> Response:
    """Show every cause with its latest calls, or one cause with all of its calls."""
    see = await page_context.as_member(request)
    code = filters.text(request, "code")
    paging = Paging(EXAMPLES) if code is None else Paging(cursor=request.query_params.get("cursor") or None)
    found = await storage_of(request).read(rejected_calls.grouped, see.program.id, paging, code=code)
    groups = [(cause, advice().get(cause.code), calls) for cause, calls in found]
    return templates.render(request, "refused_calls.html", seen=see, groups=groups, code=code)


@cache
def advice() -> dict[str, Advice]:
    """Return what the guide of error codes says about each of them."""
    return {row[1]: Advice(row[3], row[4]) for row in _ROW.finditer(guides.text("errors"))}
