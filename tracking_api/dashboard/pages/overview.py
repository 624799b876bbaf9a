"""The list of programs; a program's overview: what needs action, results, top partners; the integration checklist."""

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from presentation import guides
from storage.lists.declaration import Page
from storage.lists.partners import newest_code
from storage.lists.programs import PROGRAMS, Program, read_program
from storage.reports import chart, checklist, performance
from storage.rules.attribution import ProgramStatus
from tracking_api.dashboard.authentication import VisitorRequest, visitor_request
from tracking_api.dashboard.pages import charted, page_context, ranges, templates, text
from tracking_api.dashboard.pages.lists import ListPage, ListState

PendingAction = tuple[int, str, str, str, str, str]


class ProgramResults(NamedTuple):
    """A program of the list with its results of the period, in cents of `currency`."""

    id: int
    created_at: datetime
    name: str
    domain: str
    workspace: str
    status: ProgramStatus
    sandbox_of: int | None
    clicks: int
    leads: int
    conversions: int
    revenue_cents: int
    commission_cents: int
    currency: str
    report: performance.Performance


async def _with_results(call: VisitorRequest, state: ListState, listed: Page[Program]) -> Page[ProgramResults]:
    ids, query = [each.id for each in listed.data], state.picker.picked
    reports = await call.storage.report(
        lambda connection: [performance.read_performance(connection, each, query, at=call.at) for each in ids]
    )
    rows = []
    for each, report in zip(listed.data, reports, strict=True):
        named = each._asdict() | report.current._asdict() | {"report": report}
        rows.append(ProgramResults._make(named[name] for name in ProgramResults._fields))
    return Page(rows, *listed[1:])


PROGRAM_LIST = ListPage(PROGRAMS, "programs.html", viewer=visitor_request, complete=_with_results, row=ProgramResults)


async def show_overview(request: Request) -> Response:
    """Show the requested range, by default the last 30 days; the form shows what is wrong with an invalid range."""
    context = await page_context.as_member(request)
    picker = ranges.picker(request, context.at)
    found = await context.report(chart.read_overview, picker.picked, at=context.at, base_url=context.base_url)
    return templates.render(
        request,
        "overview.html",
        status=400 if picker.problem else 200,
        context=context,
        actions=_actions(found, context),
        charted=charted.of(found.results, picker),
        partners=found.partners,
        steps=found.steps,
        picker=picker,
    )


def _actions(overview: chart.Overview, context: page_context.PageContext) -> list[PendingAction]:
    """Return whom to pay, then what waits for a decision, most money at stake first.

    Each has the cents to compare, what is at stake, what is to be done and why, and the program's page and link for it.
    """
    pending, waiting = overview.pending, list[PendingAction]()

    def add(cents: int, title: str, reason: str, link: tuple[str, str], *, at_stake: str = "") -> None:
        at_stake = at_stake or text.money(cents, context.currency)
        waiting.append((cents, at_stake, title, reason, *link))

    lost: Counter[str] = Counter()
    for each in (amount for cause in overview.causes for amount in cause.at_stake):
        lost[each.currency] += each.amount_cents
    if lost:
        money = ", ".join(text.money(cents, currency) for currency, cents in sorted(lost.items()))
        title = _counted(sum(cause.calls for cause in overview.causes), "rejected call")
        reason = "In the last 30 days. The sales among them were not recorded."
        add(lost.total(), title, reason, ("/refused-calls", "See the causes"), at_stake=money)
    if pending.flags:
        reason = f"{_counted(pending.held.number, 'commission')} cannot be approved or paid until you decide."
        title = f"{_counted(pending.flags, 'sign')} of fraud or duplicates"
        add(pending.held.cents, title, reason, ("/review", "Review"))
    if pending.ready.number:
        title = f"{_counted(pending.ready.number, 'commission')} to approve"
        add(pending.ready.cents, title, "The hold is over.", ("/commissions", "Approve"))
    if cents := pending.provisional_leads * context.program.settings.lead_commission_cents:
        title = _counted(pending.provisional_leads, "provisional lead")
        reason = "A browser sent them. They count once your server sends the same lead."
        add(cents, title, reason, ("/customers?status=provisional", "See the leads"))
    waiting.sort(key=lambda each: -each[0])
    if pending.to_pay.number:
        title = f"Pay {_counted(pending.to_pay.number, 'partner')}, "
        title += text.money(pending.to_pay.cents, context.currency)
        pay = ("Approved, less what they owe back.", "/commissions?status=approved", "Pay")
        waiting.insert(0, (0, "", title, *pay))
    return waiting


def _counted(count: int, noun: str) -> str:
    return f"{text.number(count)} {noun}{'' if count == 1 else 's'}"


async def show_checklist(request: Request) -> Response:
    """Show every step, with a snippet for each open one (htmx requests only the steps, every few seconds)."""
    context = await page_context.as_member(request)
    live_id = context.program.sandbox_of
    code = await context.read(newest_code)
    return templates.render(
        request,
        "checklist_steps.html" if request.headers.get("hx-request") == "true" else "checklist.html",
        context=context,
        steps=await context.read(checklist.list_steps, base_url=context.base_url),
        snippets=guides.blocks("verify", guides.filling(context.program, base_url=context.base_url, code=code)),
        partner_code=code,
        live=await context.storage.read(read_program, live_id) if live_id else None,
    )


async def show_sample_page(request: Request) -> Response:
    """Show a page with the tracker, which records a click if the URL has a partner's code."""
    return templates.render(request, "sample_page.html", context=await page_context.as_member(request))
