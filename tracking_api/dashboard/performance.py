"""GET /api/tracking/performance/:programId: daily totals, metrics and trends."""

from starlette.requests import Request

from storage import performance
from storage.rules.period import Wanted
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web.answer import Answer
from web.report import report


async def show(request: Request) -> Answer:
    """Answer with the report of the range that is asked for."""
    member = await authentication.member(request)
    query = request.query_params
    wanted = Wanted(query.get("period"), query.get("dateFrom"), query.get("dateTo"))
    found = await storage_of(request).read(performance.read, member.program_id, wanted, at=time_of(request))
    return Answer(report(found))
