"""GET /api/agent/v1/programs/:id/performance: the dashboard's report."""

from agent_api.call import AgentRequest
from presentation.report import report
from storage.reading import performance
from storage.rules.period import DateRangeQuery
from web.response import JsonResponse


async def show(call: AgentRequest) -> JsonResponse:
    """Answer with the report of the range that is asked for."""
    query = call.request.query_params
    wanted = DateRangeQuery(query.get("period"), query.get("dateFrom"), query.get("dateTo"))
    return JsonResponse(report(await call.storage.read(performance.get_report, call.program_id, wanted, at=call.at)))
