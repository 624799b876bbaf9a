"""list_payment_events: what the payment processor sent, and what became of it."""

from datetime import datetime
from typing import Any

from mcp_server.arguments import Cursor, Identifier, Limit, Timestamp, span_of
from mcp_server.results import BUDGET, Result, RowPage, fitting, json_of, page, weight
from mcp_server.sanitize import Untrusted
from mcp_server.tools.tool import ToolRequest, tool
from storage.engine.pagination import Paging
from storage.payments import disputes, received_events
from storage.payments.disputes import Dispute, DisputeState
from storage.payments.received_events import PayingCustomer, PaymentEvent
from storage.rules import errors
from storage.rules.payment import PaymentOutcome
from storage.rules.scope import Scope

MEANINGS = {
    PaymentOutcome.RECORDED: "Counted.",
    PaymentOutcome.REPEATED: "The payment was recorded before: nothing to do.",
    PaymentOutcome.LINKED: "Nothing paid yet (trial, coupon, slow transfer): later payments belong to its customer.",
    PaymentOutcome.IGNORED: "Not about a sale of this program.",
    PaymentOutcome.WAITING: "No recorded sale or customer has the id in waits_for yet: it is processed when one does.",
    PaymentOutcome.UNKNOWN_CUSTOMER: "Names a customer_key that no lead has, mostly a customer whom no partner sent.",
    PaymentOutcome.ORGANIC: "Names no customer: no partner sent them. Nothing to do.",
    PaymentOutcome.HELD: "Looks like a sale that the API reported: the owner decides on the dashboard's page Payments.",
    PaymentOutcome.SAME: "The owner decided that the API had reported this sale.",
    PaymentOutcome.NOT_REFERRED: "The owner decided that no partner sent this customer.",
    PaymentOutcome.TEST: "From the processor's test mode: it earns nothing.",
}


class PaymentEventRow(Result):
    """An event of the payment processor; `is_renewal`: not the customer's first purchase."""

    id: int
    type: str
    outcome: str
    occurred_at: datetime
    received_at: datetime
    transaction_id: Untrusted | None = None
    waits_for: Untrusted | None = None
    click_id: Untrusted | None = None
    amount_cents: int | None = None
    currency: str | None = None
    customer_id: int | None = None
    customer_key: Untrusted | None = None
    is_renewal: bool | None = None
    is_test: bool | None = None


class DisputeRow(Result):
    """A dispute: open, won (the money came back) or lost."""

    dispute_id: Untrusted
    state: str
    amount_cents: int
    currency: str | None = None
    transaction_id: Untrusted | None = None
    customer_id: int | None = None
    partner_id: int | None = None
    opened_at: datetime
    closed_at: datetime | None = None


class OutcomeRow(Result):
    """The events with an outcome, and what it means."""

    outcome: str
    events: int
    first_at: datetime
    last_at: datetime
    meaning: str


class PaymentEventPage(RowPage[PaymentEventRow]):
    """Events, newest first; the first page also counts the outcomes and lists the disputes, newest first."""

    outcomes: list[OutcomeRow] | None = None
    disputes: list[DisputeRow] | None = None
    disputes_by_state: dict[str, int] | None = None


@tool("Payment events", Scope.EVENTS_READ)
def list_payment_events(
    request: ToolRequest,
    *,
    program_id: int,
    limit: Limit = 25,
    cursor: Cursor | None = None,
    outcome: Identifier | None = None,
    type: Identifier | None = None,  # noqa: A002 - the processor's word
    transaction_id: Identifier | None = None,
    test: bool | None = None,
    date_from: Timestamp | None = None,
    date_to: Timestamp | None = None,
) -> PaymentEventPage:
    """What the payment processor sent and what became of it: disputes (open, won, lost), renewals, what waits or was
    rejected and why (outcomes). type: such as charge.dispute or invoice.paid; outcome: such as waiting.
    """
    span = span_of(date_from, date_to)
    filters: dict[str, Any] = {"outcome": outcome, "type_": type, "transaction_id": transaction_id, "is_test": test}
    paging = Paging(limit, cursor)
    stored = received_events.list_events(request.connection, program_id, paging, span=span, **filters)
    sold = {event.transaction_id for event in stored.data if event.transaction_id}
    customers = received_events.buyers(request.connection, program_id, sold)

    def row(event: PaymentEvent) -> PaymentEventRow:
        return _row(event, customers.get(event.transaction_id or ""))

    if cursor is not None:
        return PaymentEventPage(**dict(page(stored, row)))
    counts = received_events.count_outcomes(request.connection, program_id, span=span)
    outcomes = [OutcomeRow(**count._asdict(), meaning=_meaning(count.outcome)) for count in counts]
    about = _disputes(disputes.list_disputes(request.connection, program_id))
    room = BUDGET - sum(weight(json_of(each)) for each in (*outcomes, *about["disputes"]))
    return PaymentEventPage(**dict(page(stored, row, budget=room)), outcomes=outcomes, **about)


def _disputes(reported: list[Dispute]) -> dict[str, Any]:
    rows = [DisputeRow.model_validate(each) for each in reported]
    states = [each.state for each in reported]
    counts = {state: states.count(state) for state in DisputeState}
    return {"disputes": rows[: fitting(rows, BUDGET // 3)], "disputes_by_state": counts}


def _row(event: PaymentEvent, buyer: PayingCustomer | None) -> PaymentEventRow:
    values = event._asdict() | (buyer._asdict() if buyer else {})
    return PaymentEventRow(**values | {"is_test": event.is_test or None})


def _meaning(outcome: str) -> str:
    known = MEANINGS[PaymentOutcome(outcome)] if outcome in set(PaymentOutcome) else None
    return known or f"Rejected. {errors.hint_of(outcome) or ''}".strip()
