"""GET .../performance: the performance report of a program."""

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.report import ReportView
from storage.reports import performance
from storage.rules.errors import InvalidPeriod, InvalidRange
from storage.rules.periods.period import DateRangeQuery
from web.response import ModelResponse

RANGE = {
    "period": "7d, 30d, 90d or all; 7d by default.",
    "dateFrom": "ISO 8601; with dateTo, in place of period.",
    "dateTo": "ISO 8601; with dateFrom, in place of period.",
}


@operation("Daily totals, metrics and trends of a program", InvalidPeriod, InvalidRange, query=RANGE)
async def get_performance(call: ApiRequest) -> ModelResponse[ReportView]:
    """Return the report of the requested period."""
    sent = call.request.query_params
    query = DateRangeQuery(sent.get("period"), sent.get("dateFrom"), sent.get("dateTo"))
    return ModelResponse(ReportView.of(await call.report(performance.read_performance, query, at=call.at)))
