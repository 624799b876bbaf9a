"""A program's overview: what needs action, its results with trends and a chart, and the top partners."""

from starlette.requests import Request
from starlette.responses import Response

from storage.reports import chart
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import actions, charted, page_context, ranges, templates


async def show_overview(request: Request) -> Response:
    """Show the requested range, by default the last 30 days; the form shows what is wrong with an invalid range."""
    context = await page_context.as_member(request)
    picker = ranges.picker(request, context.at)
    found = await storage_of(request).report(
        chart.read_overview,
        context.program.id,
        picker.picked.query,
        at=context.at,
        base_url=context.base_url,
        before=picker.picked.before,
    )
    return templates.render(
        request,
        "overview.html",
        status=400 if picker.problem else 200,
        context=context,
        actions=actions.listed(found, context),
        charted=charted.of(found.results, is_compared=picker.is_compared),
        partners=found.partners,
        steps=found.steps,
        picker=picker,
    )
