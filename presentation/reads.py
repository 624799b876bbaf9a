"""What members and agents read besides lists: a program's reports, a customer, and why sales are missing."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.breakdown import BreakdownView
from presentation.diagnosis import ExplanationView, ReadinessView, SubjectView
from presentation.operations import operation
from presentation.report import ReportView
from presentation.resources import CustomerTimelineView
from storage.diagnosis.explanation import explain
from storage.diagnosis.readiness import check_readiness
from storage.lists import customers as listed_customers
from storage.lists.declaration import ListScope
from storage.reports import breakdown, performance
from storage.rules.errors import InvalidPeriod, InvalidRange, ValidationError
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports.breakdown import Dimension, Metric
from storage.rules.reports.breakdown_query import MOST_ROWS, NONE, query
from web.response import ModelResponse

RANGE = {
    "period": "7d, 30d, 90d or all; 7d by default.",
    "dateFrom": "ISO 8601; with dateTo, in place of period.",
    "dateTo": "ISO 8601; with dateFrom, in place of period.",
}
BREAKDOWN = {
    "by": f"The dimension: {', '.join(Dimension)}.",
    "second": "A further dimension: a row for each combination.",
    **RANGE,
    "metrics": f"Some of {', '.join(Metric)}, separated by commas; all by default.",
    "sort": "The metric to sort by, most first; the first of metrics by default.",
    "limit": f"Rows, 1 to {MOST_ROWS}; 25 by default. `other` has the sum of the rest.",
    **{each.value: f"Only this {each.value.replace('_', ' ')}; `{NONE}` for what lacks one." for each in Dimension},
}
IDENTIFIERS = {
    "transaction_id": "The sale's, or any id of the payment processor. Send exactly one of the three identifiers.",
    "customer_key": "The customer's; their newest sale is explained.",
    "click_id": "The click's.",
}


@operation("Daily totals, metrics and trends of a program", InvalidPeriod, InvalidRange, query=RANGE)
async def get_performance(call: ApiRequest) -> ModelResponse[ReportView]:
    """Return the report of the requested period."""
    return ModelResponse(ReportView.of(await call.report(performance.read_performance, _range(call), at=call.at)))


@operation("A program's report by one or two dimensions", InvalidPeriod, InvalidRange, ValidationError, query=BREAKDOWN)
async def get_breakdown(call: ApiRequest) -> ModelResponse[BreakdownView]:
    """Return the requested breakdown."""
    sent = call.request.query_params
    filters = {each.value: text for each in Dimension if (text := queries.text(sent, each.value)) is not None}
    wanted = query(
        sent.get("by"),
        sent.get("second"),
        filters=filters,
        shown=list(filter(None, sent.get("metrics", "").split(","))),
        sort=sent.get("sort"),
        limit=sent.get("limit", "25"),
    )
    read = await call.report(breakdown.read_breakdown, _range(call), wanted, at=call.at)
    return ModelResponse(BreakdownView.of(read))


@operation("One customer with their timeline: click, lead, sales, refunds and commissions")
async def get_customer(call: ApiRequest) -> ModelResponse[CustomerTimelineView]:
    """Return one customer with their timeline."""
    scope = ListScope(call.program_id, call.at)
    timeline = await call.storage.report(listed_customers.get_timeline, scope, call.path_id("customer_id"))
    return ModelResponse(CustomerTimelineView.timeline(timeline))


@operation("Why a sale was credited or not, also when there is no such sale", ValidationError, query=IDENTIFIERS)
async def explain_sale(call: ApiRequest) -> ModelResponse[ExplanationView]:
    """Explain the sale, customer or click that one of the identifiers names."""
    subject = {name: queries.text(call.request.query_params, name) for name in SubjectView.model_fields}
    return ModelResponse(ExplanationView.of(await call.report(explain, **subject, at=call.at)))


@operation("What the program still lacks for its first credited sale")
async def get_readiness(call: ApiRequest) -> ModelResponse[ReadinessView]:
    """Return the gates, the blocker and the identifiers' health."""
    return ModelResponse(ReadinessView.of(await call.report(check_readiness, at=call.at, base_url=call.base_url)))


def _range(call: ApiRequest) -> DateRangeQuery:
    period, first, last = (call.request.query_params.get(name) for name in RANGE)
    return DateRangeQuery(period, first, last)
