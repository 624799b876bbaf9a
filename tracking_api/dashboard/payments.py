""".../payment-account, PATCH .../payment-events/:eventId and the page: accounts, and decisions on payments."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import StringConstraints

from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import SuccessView, View
from storage.lists.payment_events import PAYMENT_EVENTS, PaymentEvent
from storage.lists.payment_events import TO_DO as OPEN_OUTCOMES
from storage.payments import accounts, decisions, event_log, stripe
from storage.rules import errors
from storage.rules.outcome import MESSAGES, of_payment
from storage.rules.payment import PaymentOutcome
from storage.rules.periods.period import Span
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormPage, elsewhere
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.pages.page_context import PageContext
from web.body import Body, Identifier

RECORDED = PaymentOutcome.RECORDED
TO_DO = "to_do"
OUTCOMES = {"": "All events", TO_DO: "To do", RECORDED: "Recorded", PaymentOutcome.ORGANIC: "Organic"}


class NewPaymentAccount(Body):
    """An account to connect; `webhook_secret` is the signing secret of its webhook, `whsec_...`."""

    provider: Literal["stripe"]
    account_id: Identifier
    webhook_secret: Annotated[str, StringConstraints(min_length=8, max_length=255, pattern=r"^[!-~]+$")]


class PaymentAccountView(View):
    """A connected payment account; `webhook_secrets` is the number of accepted secrets, two while you change it."""

    provider: Literal["stripe"]
    account_id: str
    connected_at: datetime
    webhook_secrets: int
    webhook_url: str


class PaymentDecision(Body):
    """The decision on a held payment: a separate sale (count), or the sale that the API reported (same).

    On a payment that waits or was rejected: try again (retry), for the customer with `customer_key` or `click_id` if
    you name one, or never list this customer's payments again (dismiss), since no partner sent them.

    On a refund or a dispute that waits, because the account did not report its payment: refund the sale with
    `transaction_id` (refund), or dismiss it.
    """

    decision: decisions.Decision
    customer_key: Identifier | None = None
    click_id: Identifier | None = None
    transaction_id: Identifier | None = None


class PaymentDecidedView(SuccessView):
    """The decision is made; `outcome` is the event's new one."""

    outcome: str


@operation(notice="account-connected", tag="payments")
async def connect_payment_account(call: ApiRequest, sent: NewPaymentAccount) -> PaymentAccountView:
    """Connect a payment account, or add a webhook secret, beside which the previous one stays valid."""
    connecting = {"provider": sent.provider, "account_id": sent.account_id, "secret": sent.webhook_secret}
    return _view(call, await call.write(accounts.connect, **connecting, sealer=call.sealer))


@operation(errors.NotFound, tag="payments")
async def get_payment_account(call: ApiRequest) -> PaymentAccountView:
    """Return the connected payment account, never its secrets."""
    return _view(call, await call.read(accounts.get_account))


@operation(errors.NotFound, notice="account-disconnected", tag="payments")
async def disconnect_payment_account(call: ApiRequest) -> None:
    """Disconnect the payment account; its recorded sales and refunds stay."""
    await call.write(accounts.disconnect)


@operation(
    *(errors.CustomerNotFound, errors.DuplicateTransaction, errors.CustomerNotAttributed, errors.SaleBeforeClick),
    *(errors.AttributionWindowExpired, errors.CurrencyNotSupported, errors.TransactionNotFound),
    tag="payments",
)
async def decide_payment_event(call: ApiRequest, sent: PaymentDecision) -> PaymentDecidedView:
    """Decide on a payment that is held as a possible duplicate, or on a payment or refund that waits."""
    outcome = await call.write(decisions.decide, call.path_id("event_id"), **dict(sent))
    return PaymentDecidedView(success=True, outcome=outcome)


def _view(call: ApiRequest, account: Any) -> PaymentAccountView:
    webhook_url = f"{call.base_url}/api/v1/payments/{account.provider}/{account.program_id}"
    secrets = len(account.sealed_secrets.splitlines())
    return PaymentAccountView.of(account._asdict() | {"webhook_secrets": secrets, "webhook_url": webhook_url})


COUNTED = {RECORDED, PaymentOutcome.REPEATED, PaymentOutcome.SAME, PaymentOutcome.SETTLING, PaymentOutcome.TEST}


def _fix_of(event: PaymentEvent) -> dict[str, str] | None:
    """Return why an event does not count, what to change, and the form of templates/payments.html for it (empty: none).

    None for an event that counts.
    """
    outcome, is_payment = event.outcome, event.currency is not None
    if outcome in COUNTED or not (is_payment or outcome == PaymentOutcome.WAITING):
        return None
    message = MESSAGES[of_payment(outcome, is_payment=is_payment)]
    is_held = outcome == PaymentOutcome.HELD
    form = "" if outcome == PaymentOutcome.IGNORED else "compare" if is_held else "name_customer"
    return {"text": message.text, "change": message.change or "", "form": form if is_payment else "dismiss"}


async def _values(context: PageContext, _: ListState) -> dict[str, Any]:
    lately = Span(context.at - timedelta(days=30))
    account = await context.read(accounts.find_account)
    first_at = account and await context.read(event_log.first_received_at, account.connected_at)
    counts = await context.read(event_log.count_outcomes, span=lately)
    return {
        "account": account,
        "first_at": first_at,
        "to_do": sum(each.events for each in counts if each.outcome in OPEN_OUTCOMES),
        "organic": sum(each.payments for each in counts if each.outcome == PaymentOutcome.ORGANIC),
    }


PAYMENT_LIST = ListPage(
    PAYMENT_EVENTS,
    "payments.html",
    tabs=("outcome", TO_DO),
    narrow=lambda address, _: {TO_DO: True} if address["outcome"] == TO_DO else {"outcome": address["outcome"] or None},
    constants={"events": stripe.EVENTS, "outcomes": OUTCOMES, "fix_of": _fix_of},
    values=_values,
)


def _retried(_: Any, decided: Mapping[str, Any]) -> str:
    return "payment-recorded" if decided["outcome"] == RECORDED else "payment-retried"


def _decision(decision: decisions.Decision) -> Button:
    """Return the button of a decision; what is final asks first."""
    name = f"payment-{decision}"
    notice = _retried if decision == decisions.Decision.RETRY else name
    return Button(
        decide_payment_event, {}, notice, "/programs/{program_id}/settings/payments", question=QUESTIONS.get(name)
    )


BUTTONS: dict[str, Button] = {
    "": Button(connect_payment_account, {"provider": "stripe"}),
    "yes": Button(disconnect_payment_account, question=QUESTIONS["disconnect-account"]),
}
ACCOUNT = FormPage(PAYMENT_LIST.page, BUTTONS, by="disconnect")
DECIDE = FormPage(
    elsewhere, {each: _decision(each) for each in decisions.Decision}, by="decision", row="event_id", said="payments"
)
