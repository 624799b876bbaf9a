"""list_events and list_payment_events: what happened in a program, and what the payment processor sent."""

from mcp_server.results import BUDGET, JsonRow, fitting, json_of, row_of, weight
from mcp_server.tools.lists import Asked, list_tool
from storage.lists import event_kinds
from storage.lists.event_kinds import Event
from storage.lists.events import EVENTS
from storage.lists.payment_events import PAYMENT_EVENTS, PaymentEvent
from storage.payments import event_log
from storage.payments.event_log import DisputeState
from storage.rules import errors
from storage.rules.payment import PaymentOutcome
from storage.rules.scope import Scope

BY_BROWSERS = ("landing_url", "page_url", "page_title", "referrer_url", "event_name", "reason")
NOT_SHOWN = {"outranked_by", "outranked_at", "email_masked"}


@list_tool("Events", Scope.EVENTS_READ, EVENTS)
def list_events(asked: Asked) -> JsonRow:
    """Clicks, leads, sales, refunds, test events (sums: get_performance). A refund has sale_cents, reversed_cents
    (commission taken back), disputed. caller: who called with the key. text: in titles, URLs, campaigns, reasons.
    filtered: a bot or prefetch, not counted.
    """
    if asked.stored.order.column is None:
        return asked.page(row=event_row, key=lambda event: list(event_kinds.place(event)))
    return asked.page(row=event_row, key=lambda event: [f"{event.kind}:{event.id}"])


def event_row(event: Event) -> JsonRow:
    """Return an event with the fields that its kind has, and the texts that visitors' browsers sent apart.

    A click's id is its click_id.
    """
    own = {"click_id"} if event.id == event.click_id else set()
    converted = {"program_cents"} if event.program_cents == event.amount_cents else set()
    shown = row_of(event, leave_out=NOT_SHOWN | own | converted)
    sent = {name: shown.pop(name) for name in BY_BROWSERS if name in shown}
    return {**shown, "untrusted": sent} if sent else shown


MEANINGS: dict[str, str] = {
    PaymentOutcome.RECORDED: "Counted.",
    PaymentOutcome.REPEATED: "The payment was recorded before: nothing to do.",
    PaymentOutcome.LINKED: "Nothing paid yet (trial, coupon, slow transfer): later payments belong to its customer.",
    PaymentOutcome.IGNORED: "Not about a sale of this program.",
    PaymentOutcome.WAITING: "No recorded sale or customer has the id in waits_for yet: it is processed when one does.",
    PaymentOutcome.SETTLING: "Paid without invoice or checkout: recorded within about an hour, unless one is reported.",
    PaymentOutcome.UNKNOWN_CUSTOMER: "Names a customer_key that no lead has, mostly a customer whom no partner sent.",
    PaymentOutcome.ORGANIC: "Names no customer: no partner sent them. Nothing to do.",
    PaymentOutcome.HELD: "Looks like a sale or a refund that the API reported: the owner decides on the page Payments.",
    PaymentOutcome.SAME: "The owner decided that the API had reported this sale.",
    PaymentOutcome.NOT_REFERRED: "The owner decided that no partner sent this customer.",
    PaymentOutcome.TEST: "From the processor's test mode: it earns nothing.",
}


@list_tool("Payment events", Scope.EVENTS_READ, PAYMENT_EVENTS, "disputes")
def list_payment_events(asked: Asked) -> JsonRow:
    """What the payment processor sent and what became of it: disputes (open, won, lost), renewals, what waits or was
    rejected and why (outcomes). type: such as charge.dispute or invoice.paid; outcome: such as waiting.
    """
    connection, program_id = asked.request.connection, asked.scope.program_id
    sold = {event.transaction_id for event in asked.stored.data if event.transaction_id}
    buyers = event_log.buyers(connection, program_id, sold)

    def row(event: PaymentEvent) -> JsonRow:
        """Return an event and its buyer; `is_renewal`: not the customer's first purchase."""
        buyer = buyers.get(event.transaction_id or "")
        return row_of(event, leave_out={"event_id"}) | (row_of(buyer) if buyer else {})

    if asked.query.cursor is not None:
        return asked.page(row=row)
    counts = event_log.count_outcomes(connection, program_id, span=asked.query.span)
    outcomes = [
        row_of(each)
        | {"meaning": MEANINGS.get(each.outcome) or f"Rejected. {errors.hint_of(each.outcome) or ''}".strip()}
        for each in counts
    ]
    reported = event_log.list_disputes(connection, program_id)
    states = [each.state for each in reported]
    rows = json_of(reported)
    shown = rows[: fitting(rows, BUDGET // 3)]
    return asked.page(
        row=row,
        budget=BUDGET - sum(map(weight, (*outcomes, *shown))),
        outcomes=outcomes,
        disputes=shown,
        disputes_by_state={state: states.count(state) for state in DisputeState},
    )
