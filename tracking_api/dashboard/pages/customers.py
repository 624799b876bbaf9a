"""Customers: the list, and one customer: totals, who sent them, their story, and why sales were credited or not."""

from datetime import datetime
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from storage.diagnosis import explanation
from storage.lists import customers as listed_customers
from storage.lists.commissions import Commission
from storage.lists.customers import CUSTOMERS, ListedCustomer
from storage.lists.event_kinds import Event, EventKind
from tracking_api.dashboard.pages import page_context, stories, templates, text
from tracking_api.dashboard.pages.lists import ListPage

CUSTOMER_LIST = ListPage(CUSTOMERS, "customers.html")


class Brought(NamedTuple):
    """What a customer brought, in cents of the program's currency; `revenue_cents` is after refunds."""

    sales: int
    revenue_cents: int
    refunded_cents: int
    commission_cents: int


class TimedStep(NamedTuple):
    """A step of the story, and how long after the one before it."""

    step: Event | Commission
    kind: str
    at: datetime
    later: str


async def show_customer(request: Request) -> Response:
    """Show one customer, and the explanation of their newest sale or of the one that is named. Raises NotFound."""
    context = await page_context.as_member(request)
    customer_id = context.path_id("customer_id")
    customer, steps = await context.storage.report(listed_customers.get_timeline, context.scope, customer_id)
    subject = _subject(customer, steps, request.query_params.get("transaction_id"))
    explained = await context.report(explanation.explain, at=context.at, **subject)
    return templates.render(
        request,
        "customer.html",
        context=context,
        customer=customer,
        steps=_timed(steps),
        totals=_totals(steps),
        earning=[step.sale_id for step in steps if isinstance(step, Commission)],
        why=stories.of(context.program, explained),
    )


def _subject(customer: ListedCustomer, steps: list[Event | Commission], transaction_id: str | None) -> dict[str, str]:
    """Return what to explain: the sale of this customer that is named, else the customer."""
    bought = [step.transaction_id for step in steps if isinstance(step, Event) and step.kind == EventKind.SALE]
    if transaction_id and transaction_id in bought:
        return {"transaction_id": transaction_id}
    return {"customer_key": customer.customer_key} if customer.customer_key else {"click_id": customer.click_id}


def _timed(steps: list[Event | Commission]) -> list[TimedStep]:
    timed: list[TimedStep] = []
    for step in steps:
        kind, at = listed_customers.kind_of(step), listed_customers.occurred_at(step)
        timed.append(TimedStep(step, kind, at, text.elapsed(at - timed[-1].at) if timed else ""))
    return timed


def _totals(steps: list[Event | Commission]) -> Brought:
    events = [step for step in steps if isinstance(step, Event)]
    sales = [event for event in events if event.kind == EventKind.SALE]
    sold, refunded = (
        sum(event.program_cents or 0 for event in events if event.kind == kind)
        for kind in (EventKind.SALE, EventKind.REFUND)
    )
    paid = sum(1 for sale in sales if sale.refunded_cents != sale.amount_cents)
    commission = sum(step.net_cents for step in steps if isinstance(step, Commission))
    return Brought(paid, sold - refunded, refunded, commission)
