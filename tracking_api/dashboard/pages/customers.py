"""Customers: the list, and one customer: totals, who sent them, their story, and why sales were credited or not."""

from collections.abc import Iterator
from datetime import datetime

from starlette.responses import Response

from presentation.api_request import ApiRequest
from presentation.changes import move_customer
from storage.diagnosis import explanation
from storage.lists import customers as listed_customers
from storage.lists.commissions import Commission
from storage.lists.customers import CUSTOMERS
from storage.lists.event_kinds import Event, EventKind
from storage.management import moves
from storage.management.moves import Past
from tracking_api.dashboard.pages import missing_sale, text
from tracking_api.dashboard.pages.buttons import DECIDERS, Button, FormOutcome, FormPage, Question
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page_context import PageContext

CUSTOMER_LIST = ListPage(CUSTOMERS, "customers.html")


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    """Show one customer, and the explanation of their newest sale or of the one that is named. Raises NotFound."""
    customer_id = context.path_id("customer_id")
    customer, steps = await context.storage.report(listed_customers.get_timeline, context.scope, customer_id)
    sales = [step for step in steps if isinstance(step, Event) and step.kind == EventKind.SALE]
    earned = [step for step in steps if isinstance(step, Commission)]
    key = "customer_key" if customer.customer_key else "click_id"
    subject = {key: customer.customer_key or customer.click_id}
    named = context.request.query_params.get("transaction_id")
    if named in {sale.transaction_id for sale in sales}:
        subject = {"transaction_id": named}
    explained = await context.report(explanation.explain, at=context.at, **subject)
    return outcome.page(
        context,
        "customer.html",
        typed={"partner_id": "", "past": Past.STAY, **outcome.typed},
        partners=await missing_sale.partner_options(context) if context.is_decider else [],
        customer=customer,
        steps=list(_timed(steps)),
        paid=sum(sale.refunded_cents != sale.amount_cents for sale in sales),
        commission_cents=sum(each.net_cents for each in earned),
        earning=[each.sale_id for each in earned],
        why=missing_sale.story_of(context.program, explained),
    )


def _timed(steps: list[Event | Commission]) -> Iterator[tuple[Event | Commission, str, datetime, str]]:
    """Yield each step of the story with its kind, its time, and how long after the one before it was."""
    before: datetime | None = None
    for step in steps:
        at = listed_customers.occurred_at(step)
        yield step, listed_customers.kind_of(step), at, text.elapsed(at - before) if before else ""
        before = at


async def _sums(call: ApiRequest) -> Question:
    """Return what is asked before a customer moves, with what moves with them."""
    becomes = "The commissions so far stay with their partner."
    if call.named.get("past") == Past.MOVE:
        becomes = (
            "Their partner loses these unpaid commissions, the new one earns them, and they wait for approval again."
        )
        becomes += " What is paid stays."
    asked = await call.read(moves.count_past, call.path_id("customer_id"))
    return Question("Move", f"The new partner earns on later sales. {becomes}", commissions=asked, is_danger=False)


PAGE = FormPage(_page, Button(move_customer, question=_sums), who=DECIDERS)
