"""GET /api/tracking/performance/:programId: daily totals, metrics and trends."""

from starlette.requests import Request

from presentation.report import report
from storage.reading import performance
from storage.rules.period import DateRangeQuery
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web.response import JsonResponse


async def show(request: Request) -> JsonResponse:
    """Answer with the report of the range that is asked for."""
    member = await authentication.member(request)
    query = request.query_params
    wanted = DateRangeQuery(query.get("period"), query.get("dateFrom"), query.get("dateTo"))
    found = await storage_of(request).read(performance.get_report, member.program_id, wanted, at=time_of(request))
    return JsonResponse(report(found))
