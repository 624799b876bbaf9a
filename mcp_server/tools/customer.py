"""get_customer: one customer's whole story."""

from collections.abc import Sequence
from typing import NamedTuple

from mcp_server.arguments import Identifier, RowId
from mcp_server.results import JsonRow, fitting
from mcp_server.sanitize import row_of
from mcp_server.tools import events
from mcp_server.tools.people import customer_row
from mcp_server.tools.tool import ToolRequest, tool
from storage.diagnosis import explanation
from storage.lists import timelines
from storage.lists.commissions import Commission
from storage.lists.declaration import ListScope
from storage.lists.event_kinds import Event, EventKind
from storage.lists.programs import read_program
from storage.rules.commission import CommissionStatus
from storage.rules.scope import Scope
from storage.rules.untrusted import Untrusted, UntrustedValues

CAUSES = {EventKind.SALE: "sale_id", EventKind.LEAD: "lead_id"}
EARNED = ("id", "amount_cents", "net_cents", "status", "hold_until", "paid_at")


class Why(NamedTuple):
    """Why the newest sale, or the click without one, was credited or not."""

    verdict: str
    message: str
    smallest_change: str | None
    transaction_id: Untrusted | None
    refused_calls: int


class CustomerResult(NamedTuple):
    """A customer, the sums, the reason, and the newest events with the commission that each earned."""

    customer: UntrustedValues
    currency: str
    totals: dict[str, int]
    why: Why
    timeline: list[UntrustedValues]
    truncated: bool


@tool("One customer", Scope.CUSTOMERS_READ)
def get_customer(
    request: ToolRequest,
    *,
    program_id: int,
    customer_id: RowId | None = None,
    customer_key: Identifier | None = None,
    click_id: Identifier | None = None,
    transaction_id: Identifier | None = None,
) -> CustomerResult:
    """One customer's story: partner, click, leads, sales, refunds, what each earned, what is owed or paid, and why the
    newest sale was credited or not. Give one identifier.
    """
    found = timelines.find_customer(
        request.connection,
        program_id,
        customer_id=customer_id,
        customer_key=customer_key,
        click_id=click_id,
        transaction_id=transaction_id,
    )
    customer, steps = timelines.get_timeline(request.connection, ListScope(program_id, request.at), found)
    happened = [step for step in steps if isinstance(step, Event)]
    earned = [step for step in steps if isinstance(step, Commission)]
    rows = [_step(event, earned) for event in reversed(happened)]
    count = fitting(rows)
    return CustomerResult(
        customer=customer_row(customer),
        currency=read_program(request.connection, program_id).settings.currency,
        totals=_totals(happened, earned),
        why=_why(request, program_id, customer.click_id),
        timeline=rows[:count],
        truncated=count < len(rows),
    )


def _step(event: Event, earned: Sequence[Commission]) -> JsonRow:
    shown, cause = events.event_row(event), CAUSES.get(event.kind)
    commission = next((row_of(each) for each in earned if cause and getattr(each, cause) == event.id), None)
    return (
        shown | {"commission": {name: commission[name] for name in EARNED if name in commission}}
        if commission
        else shown
    )


def _totals(happened: Sequence[Event], earned: Sequence[Commission]) -> dict[str, int]:
    """Return what a customer bought and earned their partner, in cents of the program's currency.

    `owed_cents` is the worth of commissions that are not paid yet, `paid_out_cents` what payouts handed over.
    """
    sold = [event for event in happened if event.kind == EventKind.SALE]
    back = [event for event in happened if event.kind == EventKind.REFUND]
    waiting = (CommissionStatus.PENDING, CommissionStatus.APPROVED)
    payouts = [each for each in earned if each.status == CommissionStatus.PAID]
    return {
        "sales": len(sold),
        "sales_cents": sum(event.program_cents or 0 for event in sold),
        "refunds": len(back),
        "refunded_cents": sum(event.program_cents or 0 for event in back),
        "commission_cents": sum(each.amount_cents for each in earned),
        "commission_net_cents": sum(each.net_cents for each in earned),
        "owed_cents": sum(each.net_cents for each in earned if each.status in waiting),
        "paid_out_cents": sum(each.paid_out_cents for each in payouts),
    }


def _why(request: ToolRequest, program_id: int, click_id: str) -> Why:
    explained = explanation.explain(request.connection, program_id, click_id=click_id, at=request.at)
    return Why(
        verdict=explained.outcome,
        message=explained.text,
        smallest_change="Send likely_customer_key." if explained.likely_customer_key else explained.smallest_change,
        transaction_id=explained.transaction_id,
        refused_calls=len(explained.rejected_calls),
    )
