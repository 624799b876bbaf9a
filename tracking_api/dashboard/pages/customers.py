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

CUSTOMER_LIST = ListPage(CUSTOMERS, "customers.html", main="revenue_cents", second=("status", "partner_name", "sales"))


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
    sales = [step for step in steps if isinstance(step, Event) and step.kind == EventKind.SALE]
    earned = [step for step in steps if isinstance(step, Commission)]
    subject = _subject(customer, sales, request.query_params.get("transaction_id"))
    explained = await context.report(explanation.explain, at=context.at, **subject)
    return templates.render(
        request,
        "customer.html",
        context=context,
        customer=customer,
        steps=_timed(steps),
        paid=sum(sale.refunded_cents != sale.amount_cents for sale in sales),
        commission_cents=sum(each.net_cents for each in earned),
        earning=[each.sale_id for each in earned],
        why=stories.of(context.program, explained),
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
