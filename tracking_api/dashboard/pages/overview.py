"""A program's overview: what needs action, its results with trends and a chart, and the top partners."""

from collections import Counter
from collections.abc import Iterator
from math import inf
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from storage.lists.rejected_calls import Cause
from storage.management.pending_work import PendingWork
from storage.reports import chart
from storage.reports.chart import Overview
from storage.rules.keys import Rotation
from tracking_api.dashboard.pages import charted, page_context, ranges, templates, text
from tracking_api.dashboard.pages.page_context import PageContext


class PendingAction(NamedTuple):
    """What is to be done, why, what is at stake (cents to compare, and as text), and the page of the program for it."""

    title: str
    reason: str
    cents: float
    at_stake: str
    path: str
    link: str


async def show_overview(request: Request) -> Response:
    """Show the requested range, by default the last 30 days; the form shows what is wrong with an invalid range."""
    context = await page_context.as_member(request)
    picker = ranges.picker(request, context.at)
    found = await context.report(chart.read_overview, picker.picked.query, at=context.at, base_url=context.base_url)
    return templates.render(
        request,
        "overview.html",
        status=400 if picker.problem else 200,
        context=context,
        actions=_actions(found, context),
        charted=charted.of(found.results, is_compared=picker.is_compared, figure=picker.address["figure"]),
        partners=found.partners,
        steps=found.steps,
        picker=picker,
    )


def _actions(overview: Overview, context: PageContext) -> list[PendingAction]:
    """Return whom to pay, then what waits for a decision, most money at stake first."""
    waiting = [*_key(context), *_rejected_calls(overview.causes), *_pending(overview.pending, context)]
    return [*_payments(overview.pending, context), *sorted(waiting, key=lambda each: -each.cents)]


def _payments(pending: PendingWork, context: PageContext) -> Iterator[PendingAction]:
    if pending.to_pay.number:
        money = text.money(pending.to_pay.cents, context.currency)
        title = f"Pay {_counted(pending.to_pay.number, 'partner')}, {money}"
        yield PendingAction(title, "Approved, less what they owe back.", 0, "", "/commissions?status=approved", "Pay")


def _key(context: PageContext) -> Iterator[PendingAction]:
    if context.program.rotate_by is None or context.rotation == Rotation.ACTIVE:
        return
    by = f"{text.day(context.program.rotate_by)}, {context.program.rotate_by:%H:%M} UTC"
    when = f"are rejected from {by} on" if context.rotation == Rotation.FLAGGED else f"have been rejected since {by}"
    reason = f"Calls with {context.program.api_token_masked} {when}."
    yield PendingAction("Replace the program key", reason, inf, "all sales", "/settings/api-keys", "API keys")


def _rejected_calls(causes: list[Cause]) -> Iterator[PendingAction]:
    sums: Counter[str] = Counter()
    for each in (amount for cause in causes for amount in cause.at_stake):
        sums[each.currency] += each.amount_cents
    if sums:
        money = ", ".join(text.money(cents, currency) for currency, cents in sorted(sums.items()))
        title = _counted(sum(cause.calls for cause in causes), "rejected call")
        reason = "In the last 30 days. The sales among them were not recorded."
        yield PendingAction(title, reason, sums.total(), money, "/refused-calls", "See the causes")


def _pending(pending: PendingWork, context: PageContext) -> Iterator[PendingAction]:
    def action(title: str, reason: str, cents: int, path: str, link: str) -> PendingAction:
        return PendingAction(title, reason, cents, text.money(cents, context.currency), path, link)

    if pending.flags:
        reason = f"{_counted(pending.held.number, 'commission')} cannot be approved or paid until you decide."
        title = f"{_counted(pending.flags, 'sign')} of fraud or duplicates"
        yield action(title, reason, pending.held.cents, "/review", "Review")
    if pending.ready.number:
        title = f"{_counted(pending.ready.number, 'commission')} to approve"
        yield action(title, "The hold is over.", pending.ready.cents, "/commissions", "Approve")
    if cents := pending.provisional_leads * context.program.settings.lead_commission_cents:
        title = _counted(pending.provisional_leads, "provisional lead")
        reason = "A browser sent them. They count once your server sends the same lead."
        yield action(title, reason, cents, "/customers?status=provisional", "See the leads")


def _counted(count: int, noun: str) -> str:
    return f"{text.number(count)} {noun}{'' if count == 1 else 's'}"
