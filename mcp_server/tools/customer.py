"""get_customer: one customer's whole story."""

from collections.abc import Sequence
from datetime import datetime

from mcp_server.arguments import Identifier, RowId
from mcp_server.results import Result, fitting
from mcp_server.sanitize import Untrusted
from mcp_server.tools import events
from mcp_server.tools.events import EventRow
from mcp_server.tools.people import CustomerRow
from mcp_server.tools.tool import ToolRequest, tool
from storage.diagnosis import explanation
from storage.lists import timelines
from storage.lists.commissions import Commission
from storage.lists.declaration import ListScope
from storage.lists.event_kinds import Event, EventKind
from storage.lists.programs import read_program
from storage.rules.commission import CommissionStatus
from storage.rules.scope import Scope


class EarnedRow(Result):
    """The commission of a sale or a lead; `net_cents` is what it is worth after refunds and a rejection."""

    id: int
    amount_cents: int
    net_cents: int
    status: str
    hold_until: datetime
    paid_at: datetime | None = None


class StepRow(EventRow):
    """An event of a customer, with the commission that it earned."""

    commission: EarnedRow | None = None


class WhyRow(Result):
    """Why the newest sale, or the click without one, was credited or not."""

    verdict: str
    message: str
    smallest_change: str | None = None
    transaction_id: Untrusted | None = None
    refused_calls: int


class CustomerResult(Result):
    """A customer, the sums, the reason, and the newest events."""

    customer: CustomerRow
    currency: str
    totals: dict[str, int]
    why: WhyRow
    timeline: list[StepRow]
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
        customer=CustomerRow.model_validate(customer),
        currency=read_program(request.connection, program_id).settings.currency,
        totals=_totals(happened, earned),
        why=_why(request, program_id, customer.click_id),
        timeline=rows[:count],
        truncated=count < len(rows),
    )


def _step(event: Event, earned: Sequence[Commission]) -> StepRow:
    causes = {EventKind.SALE: "sale_id", EventKind.LEAD: "lead_id"}
    cause = causes.get(event.kind)
    commission = next((each for each in earned if cause and getattr(each, cause) == event.id), None)
    return StepRow(**dict(events.event_row(event)), commission=commission and EarnedRow.model_validate(commission))


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


def _why(request: ToolRequest, program_id: int, click_id: str) -> WhyRow:
    explained = explanation.explain(request.connection, program_id, click_id=click_id, at=request.at)
    return WhyRow(
        verdict=explained.outcome,
        message=explained.text,
        smallest_change="Send likely_customer_key." if explained.likely_customer_key else explained.smallest_change,
        transaction_id=explained.transaction_id,
        refused_calls=len(explained.rejected_calls),
    )
