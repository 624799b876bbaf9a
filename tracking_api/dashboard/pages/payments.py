"""Settings, Payments: the connected account, its webhook and its events, with possible duplicates first."""

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from presentation.api_request import path_id
from storage.payments import accounts, decisions, processing, received_events
from storage.payments.decisions import Decision
from storage.rules.errors import NotFound, ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import filters, forms, notices, page_context, templates
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.payment_account import NewPaymentAccount
from web import body

FIELDS = ("account_id", "webhook_secret")


async def show_payments(request: Request) -> Response:
    """Show the account and its events; `?outcome=` narrows them."""
    return await _page(request, await page_context.as_member(request), {}, Problems())


async def change_payment_account(request: Request) -> Response:
    """Connect an account, change its webhook secret, or disconnect it."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    path, about = (
        f"{context.program_path}/settings/payments",
        {"actor": context.member.actor, "at": context.at, "lane": context.program.id},
    )
    if form.text("disconnect"):
        await storage_of(request).write(accounts.disconnect, context.program.id, **about)
        return notices.leave(redirect(path), "account-disconnected")
    typed = {name: form.text(name) for name in FIELDS}
    try:
        sent = body.parse(NewPaymentAccount, to_json({"provider": "stripe", **typed}))
    except ValidationError as rejection:
        return await _page(request, context, typed, Problems.of(rejection))
    await storage_of(request).write(
        accounts.connect,
        context.program.id,
        provider=sent.provider,
        account_id=sent.account_id,
        secret=sent.webhook_secret,
        sealer=request.app.state.settings.sealer(),
        **about,
    )
    return notices.leave(redirect(path), "account-connected")


async def decide_payment_event(request: Request) -> Response:
    """Decide on a held payment; show why if it cannot be counted."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    decision = {each.value: each for each in Decision}.get(form.text("decision"))
    if decision is None:
        raise ValidationError("A payment is counted, or is the same sale.")
    event_id = path_id(request, "event_id")
    about = {"actor": context.member.actor, "at": context.at, "lane": context.program.id}
    await storage_of(request).write(decisions.decide, context.program.id, event_id, decision, **about)
    return notices.leave(redirect(f"{context.program_path}/settings/payments"), f"payment-{decision}")


async def _page(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    storage = storage_of(request)
    try:
        account = await storage.read(accounts.get_account, context.program.id)
    except NotFound:
        account = None
    outcome = filters.text(request, "outcome")
    page = await storage.read(received_events.list_events, context.program.id, queries.paging(request), outcome=outcome)
    return templates.render(
        request,
        "payments.html",
        status=400 if problems else 200,
        context=context,
        account=account,
        page=page,
        chosen=filters.chosen(request, "outcome"),
        outcomes=("", processing.HELD, processing.WAITING, processing.RECORDED),
        typed={**typed, "webhook_secret": ""},
        problems=problems,
    )
