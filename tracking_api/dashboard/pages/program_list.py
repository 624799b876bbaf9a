"""The programs of the visitor's workspaces."""

from datetime import datetime
from typing import NamedTuple

from storage.lists.declaration import Page
from storage.lists.programs import PROGRAMS, Program
from storage.reports.performance import Performance, read_performance
from storage.rules.attribution import ProgramStatus
from tracking_api.dashboard.authentication import VisitorRequest, visitor_request
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
    report: Performance


async def _with_results(call: VisitorRequest, state: ListState, listed: Page[Program]) -> Page[ProgramResults]:
    ids, query = [each.id for each in listed.data], state.picker.picked.query
    reports = await call.storage.report(
        lambda connection: [read_performance(connection, each, query, at=call.at) for each in ids]
    )
    rows = []
    for each, report in zip(listed.data, reports, strict=True):
        named = each._asdict() | report.current._asdict() | {"report": report}
        rows.append(ProgramResults._make(named[name] for name in ProgramResults._fields))
    return Page(rows, *listed[1:])


PROGRAM_LIST = ListPage(PROGRAMS, "programs.html", viewer=visitor_request, complete=_with_results, row=ProgramResults)
