"""What members and agents read besides lists: a program's reports, a customer, and why sales are missing."""

from typing import Self

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.report import BreakdownView, ReportView
from presentation.resources import CustomerTimelineView, RefusedCallView
from presentation.view import View, viewed, with_fields_of
from storage.diagnosis.explanation import Explanation, explain
from storage.diagnosis.readiness import Readiness, check_readiness
from storage.diagnosis.steps import ExplanationStep
from storage.lists import customers as listed_customers
from storage.lists.declaration import ListScope
from storage.reports import breakdown, performance
from storage.rules.errors import InvalidPeriod, InvalidRange
from storage.rules.outcome import SaleOutcome
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports.breakdown import Dimension, Metric
from storage.rules.reports.breakdown_query import MOST_ROWS, NONE, query

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


@with_fields_of(
    Explanation,
    leave_out={"program_id", "outcome", "text", "steps", "rejected_calls", "likely_customer_key", "partner_name"},
    trace=viewed(list[ExplanationStep]),
)
class ExplanationView(View):
    """Why a sale was credited or not; `smallest_change` is null when it is credited. A rejection is its error code.

    `transaction_id` names the sale, recorded or rejected, that the verdict and the trace are about;
    `payment_event_id` the payment processor's event of a payment that is no sale.
    """

    verdict: SaleOutcome | str
    message: str
    refused_calls: list[RefusedCallView]

    @classmethod
    def of(cls, row: Explanation) -> Self:
        refused_calls = [RefusedCallView.of(call) for call in row.rejected_calls]
        named = {"verdict": row.outcome, "message": row.text, "trace": row.steps, "refused_calls": refused_calls}
        return super().of(row._asdict() | named)


@operation(InvalidPeriod, InvalidRange, query=RANGE)
async def get_performance(call: ApiRequest) -> ReportView:
    """Return daily totals, metrics and trends of a program."""
    return ReportView.of(await call.report(performance.read_performance, _range(call), at=call.at))


@operation(InvalidPeriod, InvalidRange, query=BREAKDOWN)
async def get_breakdown(call: ApiRequest) -> BreakdownView:
    """Return a program's report by one or two dimensions."""
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
    return BreakdownView.of(await call.report(breakdown.read_breakdown, _range(call), wanted, at=call.at))


@operation()
async def get_customer(call: ApiRequest) -> CustomerTimelineView:
    """Return one customer with their timeline: click, lead, sales, refunds and commissions."""
    scope = ListScope(call.program_id, call.at)
    timeline = await call.storage.report(listed_customers.get_timeline, scope, call.path_id("customer_id"))
    return CustomerTimelineView.timeline(timeline)


@operation(query=IDENTIFIERS)
async def explain_sale(call: ApiRequest) -> ExplanationView:
    """Explain why a sale was credited or not, also when there is no such sale."""
    subject = {name: queries.text(call.request.query_params, name) for name in IDENTIFIERS}
    return ExplanationView.of(await call.report(explain, **subject, at=call.at))


@operation()
async def get_readiness(call: ApiRequest) -> Readiness:
    """Return what the program still lacks for its first credited sale."""
    return await call.report(check_readiness, at=call.at, base_url=call.base_url)


def _range(call: ApiRequest) -> DateRangeQuery:
    period, first, last = (call.request.query_params.get(name) for name in RANGE)
    return DateRangeQuery(period, first, last)
