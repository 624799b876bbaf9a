"""The programs of the visitor's workspaces."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, cast

from starlette.requests import Request
from starlette.responses import Response

from storage.access.sessions import Visitor
from storage.lists.declaration import List, ListQuery, ListScope, Page
from storage.lists.programs import PROGRAMS
from storage.reports.performance import Performance, read_performance
from storage.rules.attribution import ProgramStatus
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import csv_export, templates
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


PROGRAM_LIST = ListPage(PROGRAMS, "programs.html")
RESULTS: List[Any] = replace(cast("List[Any]", PROGRAMS), row=ProgramResults)


async def list_programs(request: Request) -> Response:
    """List the programs with their results of the period."""
    visitor = await authentication.visitor(request)
    state = PROGRAM_LIST.state(request)
    shown = state._replace(listed=await _reader(request, visitor, state)(state.query))
    return templates.render(request, PROGRAM_LIST.template, visitor=visitor, owned=visitor.owned, list=shown)


async def export_programs(request: Request) -> Response:
    """Return the programs of the filtered list, with their results of the period, as a CSV file."""
    visitor = await authentication.visitor(request)
    state = PROGRAM_LIST.state(request)
    name, read = f"programs-{time_of(request):%Y-%m-%d}", _reader(request, visitor, state)
    return csv_export.file(name, RESULTS, state.query, read, currency="")


def _reader(
    request: Request, visitor: Visitor, state: ListState
) -> Callable[[ListQuery], Awaitable[Page[ProgramResults]]]:
    """Return how a page of the list is read, with the results of each program."""
    storage, at = storage_of(request), time_of(request)
    scope = ListScope(0, at, workspace_ids=[each.workspace_id for each in visitor.memberships])

    async def read(query: ListQuery) -> Page[ProgramResults]:
        listed = await state.read(storage, scope, query)
        ids, query_of_period = [each.id for each in listed.data], state.picker.picked.query
        reports = await storage.report(
            lambda connection: [read_performance(connection, each, query_of_period, at=at) for each in ids]
        )
        rows = []
        for each, report in zip(listed.data, reports, strict=True):
            named = each._asdict() | report.current._asdict()
            rows.append(ProgramResults._make([*(named[name] for name in ProgramResults._fields[:-1]), report]))
        return Page(rows, *listed[1:])

    return read
