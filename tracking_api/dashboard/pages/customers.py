"""Customers: the list, and one customer: totals, who sent them, their story, and why sales were credited or not."""

from datetime import datetime
from typing import NamedTuple

from starlette.responses import Response

from presentation.api_request import ApiRequest
from presentation.changes import move_customer
from storage.diagnosis import explanation
from storage.lists import customers as listed_customers
from storage.lists.commissions import Commission
from storage.lists.customers import CUSTOMERS, ListedCustomer
from storage.lists.event_kinds import Event, EventKind
from storage.management import moves
from storage.management.moves import Past
from tracking_api.dashboard.pages import missing_sale, text
from tracking_api.dashboard.pages.buttons import DECIDERS, Button, FormOutcome, FormPage, Question
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page_context import PageContext

CUSTOMER_LIST = ListPage(CUSTOMERS, "customers.html")


class TimedStep(NamedTuple):
    """A step of the story, and how long after the one before it."""

    step: Event | Commission
    kind: str
    at: datetime
    later: str


async def _page(context: PageContext, outcome: FormOutcome) -> Response:
    """Show one customer, and the explanation of their newest sale or of the one that is named. Raises NotFound."""
    customer_id = context.path_id("customer_id")
    customer, steps = await context.storage.report(listed_customers.get_timeline, context.scope, customer_id)
    sales = [step for step in steps if isinstance(step, Event) and step.kind == EventKind.SALE]
    earned = [step for step in steps if isinstance(step, Commission)]
    subject = _subject(customer, sales, context.request.query_params.get("transaction_id"))
    explained = await context.report(explanation.explain, at=context.at, **subject)
    return outcome.page(
        context,
        "customer.html",
        typed={"partner_id": "", "past": Past.STAY, **outcome.typed},
        partners=await missing_sale.partner_options(context) if context.is_decider else [],
        customer=customer,
        steps=_timed(steps),
        paid=sum(sale.refunded_cents != sale.amount_cents for sale in sales),
        commission_cents=sum(each.net_cents for each in earned),
        earning=[each.sale_id for each in earned],
        why=missing_sale.story_of(context.program, explained),
    )


def _subject(customer: ListedCustomer, sales: list[Event], transaction_id: str | None) -> dict[str, str]:
    """Return what to explain: the sale of this customer that is named, else the customer."""
    if transaction_id and transaction_id in {sale.transaction_id for sale in sales}:
        return {"transaction_id": transaction_id}
    return {"customer_key": customer.customer_key} if customer.customer_key else {"click_id": customer.click_id}


def _timed(steps: list[Event | Commission]) -> list[TimedStep]:
    timed: list[TimedStep] = []
    for step in steps:
        kind, at = listed_customers.kind_of(step), listed_customers.occurred_at(step)
        timed.append(TimedStep(step, kind, at, text.elapsed(at - timed[-1].at) if timed else ""))
    return timed


async def _sums(call: ApiRequest) -> Question:
    """Return what is asked before a customer moves, with what moves with them."""
    customer_id, becomes = call.path_id("customer_id"), "The commissions so far stay with their partner."
    if call.named.get("past") == Past.MOVE:
        becomes = (
            "Their partner loses these unpaid commissions, the new one earns them, and they wait for approval again."
        )
        becomes += " What is paid stays."
    asked = await call.read(moves.count_past, customer_id)
    return Question("Move", f"The new partner earns on later sales. {becomes}", commissions=asked, is_danger=False)


PAGE = FormPage(_page, Button(move_customer, question=_sums), who=DECIDERS)
