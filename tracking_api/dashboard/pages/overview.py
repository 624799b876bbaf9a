"""A program's overview: what needs action, its results with trends and a chart, and the top partners."""

from starlette.requests import Request
from starlette.responses import Response

from storage.reports import overview
from storage.rules.errors import InvalidPeriod, InvalidRange
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import actions, charted, page_context, ranges, templates


async def show_overview(request: Request) -> Response:
    """Show the requested range, by default the last 30 days; the form shows what is wrong with an invalid range."""
    context = await page_context.as_member(request)
    problem = None
    try:
        picked = ranges.requested(request, context.at)
    except (InvalidPeriod, InvalidRange) as rejection:
        problem, picked = rejection, ranges.usual(context.at)
    found = await storage_of(request).report(
        overview.read_overview,
        context.program.id,
        picked.query,
        at=context.at,
        base_url=context.base_url,
        before=picked.before,
    )
    return templates.render(
        request,
        "overview.html",
        status=400 if problem else 200,
        context=context,
        actions=actions.listed(found, context),
        charted=charted.of(found.results, is_compared=picked.before is not None),
        partners=found.partners,
        steps=found.steps,
        problem=problem,
        picker=ranges.picker(request, picked),
    )
