"""Rejected calls, grouped by cause: what happened, what to do about it, and the latest of each."""

from starlette.requests import Request
from starlette.responses import Response

from storage.engine.pagination import Paging
from storage.reading import rejected_calls
from storage.rules import errors
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import filters, page_context, templates

EXAMPLES = 5


async def list_refused_calls(request: Request) -> Response:
    """Show every cause with its latest calls, or one cause with all of its calls."""
    context = await page_context.as_member(request)
    code = filters.text(request, "code")
    paging = Paging(EXAMPLES) if code is None else Paging(cursor=request.query_params.get("cursor") or None)
    grouped = await storage_of(request).report(rejected_calls.grouped, context.program.id, paging, code=code)
    groups = [(cause, errors.BY_CODE.get(cause.code), calls) for cause, calls in grouped]
    return templates.render(request, "refused_calls.html", context=context, groups=groups, code=code)
