"""Rejected calls: grouped by cause with what to do and the latest of each, or as a list of those that match."""

from starlette.requests import Request
from starlette.responses import Response

from storage.engine.listing import Listed
from storage.engine.pagination import Paging
from storage.reading import listed_calls, rejected_calls
from storage.reading.rejected_calls import LoggedRejection
from storage.rules import errors
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import csv_export, filters, lists, page_context, templates, text
from tracking_api.dashboard.pages.csv_export import Read
from tracking_api.dashboard.pages.lists import Column, List, ListState
from tracking_api.dashboard.pages.page_context import PageContext

EXAMPLES = 5
LIST = List(
    "Rejected calls",
    (
        Column("at", "When", sort="", is_time=True),
        Column("call", "Call", sort="call"),
        Column("code", "Cause", sort="code"),
        Column("customer", "Customer key", sort="customer"),
        Column("transaction", "Transaction", sort="transaction"),
        Column("amount", "Amount", sort="amount", is_figure=True),
        Column("fields", "Fields"),
        Column("request", "Request id"),
    ),
    search="Transaction, customer key, click or request id",
    kept=("code",),
)
HEADER = [
    *("id", "at", "call", "code", "customer_key", "click_id", "transaction_id", "amount", "currency"),
    *("fields", "request_id"),
]


async def list_refused_calls(request: Request) -> Response:
    """Show every cause with its latest calls; with a cause, a search or a period, the list of those that match."""
    context = await page_context.as_member(request)
    state = lists.state(request, LIST)
    code = filters.text(request, "code")
    grouped = await storage_of(request).report(rejected_calls.grouped, context.program.id, Paging(EXAMPLES), code=code)
    groups = [
        (cause, errors.BY_CODE.get(cause.code), state.holding(Listed(calls.data)), calls.next_cursor is not None)
        for cause, calls in grouped
    ]
    listed = await _read(request, context, state)(state.query)
    shown = state.holding(listed)
    return templates.render(request, "refused_calls.html", context=context, groups=groups, list=shown, code=code)


async def export_refused_calls(request: Request) -> Response:
    """Return the calls of the filtered list as a CSV file."""
    context = await page_context.as_member(request)
    name = f"refused-calls-{context.program.id}-{context.at:%Y-%m-%d}"
    return csv_export.file(name, _read(request, context, lists.state(request, LIST)), HEADER, _cells)


def _read(request: Request, context: PageContext, state: ListState) -> Read[LoggedRejection]:
    match = {"code": filters.text(request, "code"), "search": state.search}
    read = storage_of(request).report
    return lambda query: read(listed_calls.read_rejected, context.program.id, query, **match, span=state.span)


def _cells(each: LoggedRejection) -> list[object]:
    amount = None if each.amount_cents is None or not each.currency else text.major(each.amount_cents, each.currency)
    sent = (each.customer_key, each.click_id, each.transaction_id, amount, each.currency)
    return [each.id, each.at, each.call, each.code, *sent, " ".join(each.fields), each.request_id]
