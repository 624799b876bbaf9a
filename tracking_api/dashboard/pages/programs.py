"""The programs of the visitor's workspaces, and the form that creates another."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple, cast

from starlette.requests import Request
from starlette.responses import Response

from storage.access.sessions import Membership, Visitor
from storage.access.workspaces import Role
from storage.lists.declaration import List, ListQuery, ListScope, Page
from storage.lists.partners import FIGURES
from storage.lists.programs import PROGRAMS, ListedProgram
from storage.reports import performance
from storage.reports.performance import Performance
from storage.rules import settings
from storage.rules.attribution import ProgramStatus
from storage.rules.errors import OwnerRequired
from storage.rules.settings import BY_NAME, SETTINGS, ProgramSettings
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import buttons, csv_export, templates, values
from tracking_api.dashboard.pages.buttons import Button, FormOutcome
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.programs import create_program
from tracking_api.dashboard.roles import VisitorRequest, visitor_request

CREATE = Button(create_program, then="/programs/{id}/settings/checklist")
CHOSEN_FIRST = [BY_NAME[name] for name in ("name", "domain", "commission_type", "commission_rate", "currency")]


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
    shown = state.holding(await _reader(request, visitor, state)(state.query))
    return templates.render(request, PROGRAM_LIST.template, visitor=visitor, owned=_owned(visitor), list=shown)


async def export_programs(request: Request) -> Response:
    """Return the programs of the filtered list, with their results of the period, as a CSV file."""
    visitor = await authentication.visitor(request)
    state = PROGRAM_LIST.state(request)
    name, read = f"programs-{time_of(request):%Y-%m-%d}", _reader(request, visitor, state)
    return csv_export.file(name, RESULTS, lambda cursor: read(state.exported(cursor)), currency="")


async def show_new_program(request: Request) -> Response:
    """Show the form for a new program."""
    return await _form(await visitor_request(request), FormOutcome())


async def create(request: Request) -> Response:
    """Create a program and go to its checklist; an error appears beside its field."""
    call = await visitor_request(request)
    return await buttons.press(CREATE, call, partial(_form, call), visitor=call.visitor)


async def _form(call: VisitorRequest, outcome: FormOutcome) -> Response:
    owned = _owned(call.visitor)
    if not owned:
        raise OwnerRequired
    defaults = ProgramSettings("", "")
    return templates.render(
        call.request,
        "new_program.html",
        visitor=call.visitor,
        owned=owned,
        workspaces=[(str(each.workspace_id), each.name) for each in owned],
        settings=CHOSEN_FIRST,
        **outcome.shown(values.of_settings(SETTINGS, settings.published(defaults), defaults.currency)),
    )


def _owned(visitor: Visitor) -> list[Membership]:
    return [each for each in visitor.memberships if each.role == Role.OWNER]


def _reader(
    request: Request, visitor: Visitor, state: ListState
) -> Callable[[ListQuery], Awaitable[Page[ProgramResults]]]:
    """Return how a page of the list is read, with the results of each program."""
    storage, at = storage_of(request), time_of(request)
    scope = ListScope(0, at, workspace_ids=[each.workspace_id for each in visitor.memberships])

    async def read(query: ListQuery) -> Page[ProgramResults]:
        listed = await state.reader(request, scope)(query)
        ids, query_of_period = [each.id for each in listed.data], state.picked.query
        reports = await storage.report(performance.read_performances, ids, query_of_period, at=at)
        rows = [_with_results(each, report) for each, report in zip(listed.data, reports, strict=True)]
        return Page(rows, *listed[1:])

    return read


def _with_results(each: ListedProgram, report: Performance) -> ProgramResults:
    shown = {name: getattr(each, name) for name in ProgramResults._fields if name in ListedProgram._fields}
    figures = {name: getattr(report.current, name) for name in FIGURES}
    return ProgramResults(**shown, **figures, report=report)
