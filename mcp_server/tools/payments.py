"""list_payment_events: what the payment processor sent, and what became of it."""

from typing import Any

from mcp_server.results import BUDGET, Result, RowPage, fields_of, fitting, json_of, weight
from mcp_server.sanitize import Untrusted
from mcp_server.tools.lists import Asked, list_tool
from storage.lists.payment_events import PAYMENT_EVENTS, PaymentEvent
from storage.payments import disputes, received_events
from storage.payments.disputes import Dispute, DisputeState
from storage.payments.received_events import OutcomeCount
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


@fields_of(PaymentEvent, leave_out={"event_id"})
class PaymentEventRow(Result):
    """An event of the payment processor; `is_renewal`: not the customer's first purchase."""

    customer_id: int | None = None
    is_renewal: bool | None = None


@fields_of(Dispute)
class DisputeRow(Result):
    """A dispute: open, won (the money came back) or lost."""

    dispute_id: Untrusted
    transaction_id: Untrusted | None = None


@fields_of(OutcomeCount)
class OutcomeRow(Result):
    """The events with an outcome, and what it means."""

    meaning: str


class PaymentEventPage(RowPage[PaymentEventRow]):
    """Events, newest first; the first page also counts the outcomes and lists the disputes, newest first."""

    outcomes: list[OutcomeRow] | None = None
    disputes: list[DisputeRow] | None = None
    disputes_by_state: dict[str, int] | None = None


@list_tool("Payment events", Scope.EVENTS_READ, PAYMENT_EVENTS)
def list_payment_events(asked: Asked) -> PaymentEventPage:
    """What the payment processor sent and what became of it: disputes (open, won, lost), renewals, what waits or was
    rejected and why (outcomes). type: such as charge.dispute or invoice.paid; outcome: such as waiting.
    """
    connection, program_id = asked.request.connection, asked.scope.program_id
    stored = asked.read()
    sold = {event.transaction_id for event in stored.data if event.transaction_id}
    customers = received_events.buyers(connection, program_id, sold)

    def values(event: PaymentEvent) -> dict[str, Any]:
        buyer = customers.get(event.transaction_id or "")
        return event._asdict() | (buyer._asdict() if buyer else {})

    if asked.query.cursor is not None:
        return PaymentEventPage(**dict(asked.page(PaymentEventRow, found=stored, values=values)))
    counts = received_events.count_outcomes(connection, program_id, span=asked.query.span)
    outcomes = [OutcomeRow(**count._asdict(), meaning=_meaning(count.outcome)) for count in counts]
    about = _disputes(disputes.list_disputes(connection, program_id))
    room = BUDGET - sum(weight(json_of(each)) for each in (*outcomes, *about["disputes"]))
    page = asked.page(PaymentEventRow, found=stored, values=values, budget=room)
    return PaymentEventPage(**dict(page), outcomes=outcomes, **about)


def _disputes(reported: list[Dispute]) -> dict[str, Any]:
    rows = [DisputeRow.model_validate(each) for each in reported]
    states = [each.state for each in reported]
    counts = {state: states.count(state) for state in DisputeState}
    return {"disputes": rows[: fitting(rows, BUDGET // 3)], "disputes_by_state": counts}


def _meaning(outcome: str) -> str:
    known = MEANINGS[PaymentOutcome(outcome)] if outcome in set(PaymentOutcome) else None
    return known or f"Rejected. {errors.hint_of(outcome) or ''}".strip()
