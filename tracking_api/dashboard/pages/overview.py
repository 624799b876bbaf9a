"""The list of programs; a program's overview: what needs action, results, top partners; the integration checklist."""

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
from tracking_api.dashboard.pages import charted, page_context, ranges, templates
from tracking_api.dashboard.pages.lists import ListPage, ListState


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
    both = zip(listed.data, reports, strict=True)
    named = (each._asdict() | report.current._asdict() | {"report": report} for each, report in both)
    rows = [ProgramResults._make(each[name] for name in ProgramResults._fields) for each in named]
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
        **found._asdict(),
        today=context.at.date(),
        charted=charted.of(found.results, picker),
        picker=picker,
    )


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
