"""Settings, Payments: the webhook to create, the connected account, and what became of its events."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import ApiRequest
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.lists.payment_events import TO_DO as OPEN_OUTCOMES
from storage.payments import accounts, received_events, stripe
from storage.payments.decisions import Decision
from storage.rules.errors import NotFound
from storage.rules.payment import PaymentOutcome
from storage.rules.periods.period import Span
from tracking_api.dashboard.pages import buttons, page_context, payment_fixes
from tracking_api.dashboard.pages.buttons import Button, FormPage, Notice
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.pages.payment_fixes import TO_DO
from tracking_api.dashboard.payments import connect_payment_account, decide_payment_event, disconnect_payment_account

RECORDED = PaymentOutcome.RECORDED
LATELY = timedelta(days=30)
OUTCOMES = {
    "": "All events",
    TO_DO: "To do",
    RECORDED: "Recorded",
    PaymentOutcome.ORGANIC: "Organic",
}


def _by_outcome(address: FilterValues, _: datetime) -> Mapping[str, Any]:
    """Return the filter of the tab: an outcome, or all that waits for a decision."""
    outcome = address["outcome"]
    return {"to_do": True} if outcome == TO_DO else {"outcome": outcome or None}


async def _values(context: PageContext, state: ListState) -> dict[str, Any]:
    lately = Span(context.at - LATELY)
    try:
        account = await context.read(accounts.get_account)
        first_at = await context.read(received_events.first_received_at, account.connected_at)
    except NotFound:
        account, first_at = None, None
    counts = await context.read(received_events.count_outcomes, span=lately)
    return {
        "account": account,
        "events": stripe.EVENTS,
        "first_at": first_at,
        "to_do": sum(each.events for each in counts if each.outcome in OPEN_OUTCOMES),
        "organic": await context.read(received_events.count_organic, span=lately),
        "fixes": {each.id: payment_fixes.of(each) for each in state.listed.data},
        "outcomes": OUTCOMES,
    }


PAYMENT_LIST = ListPage(PAYMENT_EVENTS, "payments.html", tabs=("outcome", "to_do"), narrow=_by_outcome, values=_values)


def _decision(notice: Notice, verb: str = "", meaning: str = "") -> Button[ApiRequest]:
    """Return the button of a decision; what is final has a verb and a meaning, and asks first."""
    question = Question(verb, f"{meaning} You cannot undo this.", is_danger=False) if verb else None
    return Button(decide_payment_event, {}, notice, "/programs/{program_id}/settings/payments", question)


DISCONNECT = Question(
    "Disconnect",
    "The service forgets the webhook secrets and accepts no more events of the account. What it reported stays."
    " To connect it again you need its webhook secret.",
)
BUTTONS: dict[str, Button[ApiRequest]] = {
    "": Button(connect_payment_account, {"provider": "stripe"}),
    "yes": Button(disconnect_payment_account, question=DISCONNECT),
}
DECISIONS: dict[str, Button[ApiRequest]] = {
    Decision.COUNT: _decision(
        "payment-count", "Count it", "The payment becomes a sale of its own, with its commission."
    ),
    Decision.SAME: _decision(
        "payment-same",
        "Same sale",
        "The payment is linked to the sale that your server reported, and does not count.",
    ),
    Decision.RETRY: _decision(
        lambda decided: "payment-recorded" if decided["outcome"] == RECORDED else "payment-retried"
    ),
    Decision.DISMISS: _decision("payment-dismiss"),
    Decision.REFUND: _decision(
        "payment-refund", "Refund this sale", "The refund is recorded, and its share of the commission is taken back."
    ),
}
ACCOUNT = FormPage(PAYMENT_LIST.page, BUTTONS, by="disconnect")


async def decide(request: Request) -> Response:
    """Decide on a payment that does not count. Raises NotFound and the errors of a sale."""
    context = await page_context.as_owner(request)
    return await buttons.press(DECISIONS, context, by="decision", context=context)
