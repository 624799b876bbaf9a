"""GET /api/agent/v1/programs/:id/performance: the dashboard's report."""

from agent_api.call import Call
from storage import performance
from storage.rules.period import Wanted
from web.answer import Answer
from web.report import report


async def show(call: Call) -> Answer:
    """Answer with the report of the range that is asked for."""
    query = call.request.query_params
    wanted = Wanted(query.get("period"), query.get("dateFrom"), query.get("dateTo"))
    return Answer(report(await call.storage.read(performance.read, call.program_id, wanted, at=call.at)))
