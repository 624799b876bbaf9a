"""A program's overview: metric tiles with trends, one chart with its table of days, the top partners."""

from starlette.requests import Request
from starlette.responses import Response

from storage import checklist, performance, refused_calls
from storage.rules import metrics
from storage.rules.errors import InvalidPeriod, InvalidRange
from storage.rules.period import Wanted
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import ranges, seen, spans, templates

METRICS = (
    ("clicks", "Clicks", False),
    ("leads", "Leads", False),
    ("conversions", "Conversions", False),
    ("revenue_cents", "Revenue", True),
)


async def show(request: Request) -> Response:
    """Show the range that is asked for, the last 30 days at first; a range that is none is said beside its form."""
    see = await seen.as_member(request)
    problem = None
    try:
        report = await _read(request, see.program.id, ranges.wanted(request))
    except (InvalidPeriod, InvalidRange) as refusal:
        problem = refusal
        report = await _read(request, see.program.id, ranges.DEFAULT)
    storage = storage_of(request)
    partners = await storage.read(performance.by_partner, see.program.id, report.window)
    steps = await storage.read(checklist.read, see.program.id)
    causes = await storage.read(refused_calls.by_cause, see.program.id)
    return templates.render(
        request,
        "overview.html",
        status=400 if problem else 200,
        seen=see,
        report=report,
        spans=spans.of(report.days),
        partners=partners,
        steps=steps,
        causes=causes,
        metrics=METRICS,
        rates=_rates(report),
        problem=problem,
        picker=ranges.picker(request, report.window),
    )


def _rates(report: performance.Performance) -> dict[str, float]:
    total = report.current
    conversion = metrics.conversion_rate(total.conversions, total.clicks)
    return {
        "conversion": conversion,
        "average_cents": metrics.average_order_cents(total.revenue_cents, total.conversions),
    }


async def _read(request: Request, program_id: int, wanted: Wanted) -> performance.Performance:
    from_storage = storage_of(request).read
    return await from_storage(performance.read, program_id, wanted, at=request.app.state.clock())
