"""GET .../breakdown: a program's report grouped by source, page, campaign, device, place, partner or time."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.breakdown import BreakdownView
from presentation.handlers.performance import RANGE
from presentation.operations import operation
from storage.reports import breakdown
from storage.rules.errors import InvalidPeriod, InvalidRange, ValidationError
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports.breakdown import MOST_ROWS, NONE, Dimension, Metric, query
from web.response import ModelResponse

QUERY = {
    "by": f"The dimension: {', '.join(Dimension)}.",
    "second": "A further dimension: a row for each combination.",
    **RANGE,
    "metrics": f"Some of {', '.join(Metric)}, separated by commas; all by default.",
    "sort": "The metric to sort by, most first; the first of metrics by default.",
    "limit": f"Rows, 1 to {MOST_ROWS}; 25 by default. `other` has the sum of the rest.",
    **{each.value: f"Only this {each.value.replace('_', ' ')}; `{NONE}` for what lacks one." for each in Dimension},
}


@operation("A program's report by one or two dimensions", InvalidPeriod, InvalidRange, ValidationError, query=QUERY)
async def get_breakdown(call: ApiRequest) -> ModelResponse[BreakdownView]:
    """Return the requested breakdown."""
    sent = call.request.query_params
    filters = {each.value: text for each in Dimension if (text := queries.text(call.request, each.value)) is not None}
    wanted = query(
        sent.get("by"),
        sent.get("second"),
        filters=filters,
        shown=list(filter(None, sent.get("metrics", "").split(","))),
        sort=sent.get("sort"),
        limit=sent.get("limit", "25"),
    )
    period = DateRangeQuery(sent.get("period"), sent.get("dateFrom"), sent.get("dateTo"))
    return ModelResponse(BreakdownView.of(await call.report(breakdown.get_breakdown, period, wanted, at=call.at)))
