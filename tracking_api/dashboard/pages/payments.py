"""Settings, Payments: the webhook to create, the connected account, and what became of its events."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from storage.lists.payment_events import PAYMENT_EVENTS
from storage.lists.payment_events import TO_DO as OPEN_OUTCOMES
from storage.payments import accounts, decisions, received_events, stripe
from storage.payments.decisions import Decision, NamedCustomer
from storage.rules.errors import NotFound, ValidationError
from storage.rules.payment import PaymentOutcome
from storage.rules.periods.period import Span
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import (
    confirmation,
    forms,
    notices,
    page_context,
    payment_fixes,
    templates,
)
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.pages.payment_fixes import TO_DO
from tracking_api.dashboard.payment_account import NewPaymentAccount
from web import body

DISCONNECT = Question(
    "Disconnect",
    "The service forgets the webhook secrets and accepts no more events of the account. What it reported stays."
    " To connect it again you need its webhook secret.",
    "",
)
FINAL = {
    Decision.COUNT: ("Count it", "The payment becomes a sale of its own, with its commission."),
    Decision.SAME: ("Same sale", "The payment is linked to the sale that your server reported, and does not count."),
    Decision.REFUND: ("Refund this sale", "The refund is recorded, and its share of the commission is taken back."),
}
LATELY = timedelta(days=30)
OUTCOMES = {
    "": "All events",
    TO_DO: "To do",
    PaymentOutcome.RECORDED: "Recorded",
    PaymentOutcome.ORGANIC: "Organic",
}


def _by_outcome(address: FilterValues, _: datetime) -> Mapping[str, Any]:
    """Return the filter of the tab: an outcome, or all that waits for a decision."""
    outcome = address["outcome"]
    return {"to_do": True} if outcome == TO_DO else {"outcome": outcome or None}


PAYMENT_LIST = ListPage(PAYMENT_EVENTS, "payments.html", tabs=("outcome", "to_do"), narrow=_by_outcome)
FIELDS = ("account_id", "webhook_secret")


async def show_payments(request: Request) -> Response:
    """Show the account and its events; `?outcome=` narrows them."""
    return await _page(request, await page_context.as_member(request), {}, Problems())


async def change_payment_account(request: Request) -> Response:
    """Connect an account, change its webhook secret, or disconnect it."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    path = f"{context.program_path}/settings/payments"
    if form.text("disconnect") and not confirmation.is_given(form):
        return confirmation.ask(request, form, DISCONNECT._replace(back=path), context=context)
    if form.text("disconnect"):
        await page_context.change(request, context, accounts.disconnect)
        return notices.leave(redirect(path), "account-disconnected")
    typed = {name: form.text(name) for name in FIELDS}
    try:
        sent = body.parse(NewPaymentAccount, to_json({"provider": "stripe", **typed}))
    except ValidationError as rejection:
        return await _page(request, context, typed, Problems.of(rejection))
    await page_context.change(
        request,
        context,
        accounts.connect,
        provider=sent.provider,
        account_id=sent.account_id,
        secret=sent.webhook_secret,
        sealer=request.app.state.settings.sealer(),
    )
    return notices.leave(redirect(path), "account-connected")


async def decide_payment_event(request: Request) -> Response:
    """Decide on a payment that does not count; show why if it cannot be counted."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    decision = {each.value: each for each in Decision}.get(form.text("decision"))
    if decision is None:
        raise ValidationError("A payment is counted, is the same sale, is tried again, or is dismissed.")
    event_id, path = path_id(request, "event_id"), f"{context.program_path}/settings/payments"
    if decision in FINAL and not confirmation.is_given(form):
        verb, meaning = FINAL[decision]
        question = Question(verb, f"{meaning} You cannot undo this.", path, is_danger=False)
        return confirmation.ask(request, form, question, context=context)
    named = NamedCustomer(form.text("click_id") or None, form.text("customer_key") or None)
    outcome = await page_context.change(
        request,
        context,
        decisions.decide,
        event_id,
        decision,
        customer=named,
        transaction_id=form.text("transaction_id") or None,
    )
    notice = f"payment-{decision}"
    if decision == Decision.RETRY:
        notice = "payment-recorded" if outcome == PaymentOutcome.RECORDED else "payment-retried"
    return notices.leave(redirect(path), notice)


async def _page(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    storage = storage_of(request)
    program_id, lately = context.program.id, Span(context.at - LATELY)
    try:
        account = await storage.read(accounts.get_account, program_id)
        first_at = await storage.read(received_events.first_received_at, program_id, account.connected_at)
    except NotFound:
        account, first_at = None, None
    counts = await storage.read(received_events.count_outcomes, program_id, span=lately)
    state = await PAYMENT_LIST.read(request, context)
    return templates.render(
        request,
        "payments.html",
        status=400 if problems else 200,
        context=context,
        account=account,
        events=stripe.EVENTS,
        first_at=first_at,
        to_do=sum(each.events for each in counts if each.outcome in OPEN_OUTCOMES),
        organic=await storage.read(received_events.count_organic, program_id, span=lately),
        list=state,
        fixes={each.id: payment_fixes.of(each) for each in state.listed.data},
        outcomes=OUTCOMES,
        typed={**typed, "webhook_secret": ""},
        problems=problems,
    )
