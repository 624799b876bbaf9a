"""A program's overview: metric tiles with trends, one chart with its table of days, the top partners."""

from starlette.requests import Request
from starlette.responses import Response

from storage.reading import overview, performance
from storage.rules import metrics
from storage.rules.errors import InvalidPeriod, InvalidRange
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import page_context, ranges, spans, templates

METRICS = (
    ("clicks", "Clicks", False),
    ("leads", "Leads", False),
    ("conversions", "Conversions", False),
    ("revenue_cents", "Revenue", True),
)


async def show_overview(request: Request) -> Response:
    """Show the requested range, by default the last 30 days; the form shows what is wrong with an invalid range."""
    context = await page_context.as_member(request)
    problem = None
    try:
        picked = ranges.requested(request, context.at)
    except (InvalidPeriod, InvalidRange) as rejection:
        problem, picked = rejection, ranges.usual(context.at)
    overview_result = await storage_of(request).report(
        overview.get_overview,
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
        **overview_result._asdict(),
        spans=spans.of(overview_result.report.days),
        metrics=METRICS,
        rates=_rates(overview_result.report),
        problem=problem,
        picker=ranges.picker(request, picked),
    )


def _rates(report: performance.Performance) -> dict[str, float]:
    total = report.current
    conversion = metrics.conversion_rate(total.conversions, total.clicks)
    return {
        "conversion": conversion,
        "average_cents": metrics.average_order_cents(total.revenue_cents, total.conversions),
    }
