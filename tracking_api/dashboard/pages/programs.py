"""The programs of the visitor's workspaces, and the form that creates another."""

from typing import NamedTuple

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import NewProgram
from storage.access.sessions import Membership, Visitor
from storage.access.workspaces import Role
from storage.engine.listing import Listed, ListQuery
from storage.management import program_settings
from storage.management.program_settings import Program
from storage.reading import listed_programs
from storage.reports import performance
from storage.reports.performance import Performance
from storage.rules import settings
from storage.rules.attribution import ProgramStatus
from storage.rules.errors import CurrencyNotSupported, OwnerRequired, ValidationError
from storage.rules.periods.picked_period import PickedPeriod
from storage.rules.settings import BY_NAME, ProgramSettings
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import csv_export, filters, forms, lists, notices, ranges, templates, text, values
from tracking_api.dashboard.pages.csv_export import Read
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.lists import Choice, Column, List, ListState
from tracking_api.dashboard.pages.page import redirect
from web import body

CHOSEN_FIRST = [BY_NAME[name] for name in ("name", "domain", "commission_type", "commission_rate", "currency")]


LIST = List(
    "Programs",
    (Column("name", "Name", sort="name"), Column("domain", "Domain", sort="domain")),
    search="Name, domain or workspace",
    choices=(Choice("status", "Status", text.pairs(ProgramStatus)),),
    period=PickedPeriod.THIRTY_DAYS,
)
HEADER = [
    *("id", "created_at", "name", "domain", "workspace", "status"),
    *("clicks", "leads", "conversions", "revenue", "commission", "currency"),
]


class ProgramInList(NamedTuple):
    """A program with its results of the period, and the name of its workspace."""

    program: Program
    report: Performance
    workspace: str


async def list_programs(request: Request) -> Response:
    """List the programs with their results of the period."""
    visitor = await authentication.visitor(request)
    state = lists.state(request, LIST)
    shown = state.holding(await _reader(request, visitor, state)(state.query))
    return templates.render(request, "programs.html", visitor=visitor, owned=_owned(visitor), list=shown)


async def export_programs(request: Request) -> Response:
    """Return the programs of the filtered list, with their results of the period, as a CSV file."""
    visitor = await authentication.visitor(request)
    read = _reader(request, visitor, lists.state(request, LIST))
    return csv_export.file(f"programs-{time_of(request):%Y-%m-%d}", read, HEADER, _cells)


async def show_new_program(request: Request) -> Response:
    """Show the form for a new program."""
    visitor = await authentication.visitor(request)
    return _form(request, visitor, values.of_settings(ProgramSettings("", "")), Problems())


async def create_program(request: Request) -> Response:
    """Create a program and go to its checklist; an error appears beside its field."""
    visitor = await authentication.visitor(request)
    form = await forms.read_form(request)
    owned = [each.workspace_id for each in _owned(visitor)]
    try:
        workspace_id, chosen = _new_program(form)
        if workspace_id not in owned:
            raise OwnerRequired
        program_id = await storage_of(request).write(
            program_settings.create, workspace_id, chosen, at=time_of(request), actor=visitor.actor
        )
    except ValidationError as rejection:
        return _form(request, visitor, values.typed(form), Problems.of(rejection))
    except CurrencyNotSupported as rejection:
        return _form(request, visitor, values.typed(form), Problems(currency=rejection.text))
    return notices.leave(redirect(f"/programs/{program_id}/settings/checklist"), "program-created")


def _new_program(form: Form) -> tuple[int | None, ProgramSettings]:
    """Return the workspace and the settings of the new program. Raises ValidationError."""
    fields = values.of_form(form, CHOSEN_FIRST) | {"workspace_id": values.number(form.text("workspace_id"))}
    sent = body.parse(NewProgram, to_json(fields)).sent()
    workspace_id = sent.pop("workspace_id", None)
    return workspace_id, ProgramSettings(**settings.stored(sent))


def _form(request: Request, visitor: Visitor, typed: dict[str, str], problems: Problems) -> Response:
    owned = _owned(visitor)
    if not owned:
        raise OwnerRequired
    workspaces = [(str(each.workspace_id), each.name) for each in owned]
    shown = {"owned": owned, "workspaces": workspaces, "settings": CHOSEN_FIRST, "typed": typed, "problems": problems}
    return templates.render(request, "new_program.html", status=400 if problems else 200, visitor=visitor, **shown)


def _owned(visitor: Visitor) -> list[Membership]:
    return [each for each in visitor.memberships if each.role == Role.OWNER]


def _reader(request: Request, visitor: Visitor, state: ListState) -> Read[ProgramInList]:
    """Return how a page of the list is read. Raises ValidationError for an unknown status."""
    names = {each.workspace_id: each.name for each in visitor.memberships}
    search, status = state.search, filters.choice(request, "status", ProgramStatus)
    storage, at = storage_of(request), time_of(request)
    period = ranges.requested(request, at).query

    async def read(query: ListQuery) -> Listed[ProgramInList]:
        listed = await storage.read(listed_programs.read, list(names), query, search=search, status=status)
        reports = await storage.report(performance.read_performances, [each.id for each in listed.data], period, at=at)
        rows = [
            ProgramInList(each, report, names[each.workspace_id])
            for each, report in zip(listed.data, reports, strict=True)
        ]
        return Listed(rows, *listed[1:])

    return read


def _cells(each: ProgramInList) -> list[object]:
    program, totals, currency = each.program, each.report.current, each.report.currency
    cents = (totals.revenue_cents, totals.commission_cents)
    return [
        *(program.id, program.created_at, program.settings.name, program.settings.domain, each.workspace),
        *(program.settings.status, totals.clicks, totals.leads, totals.conversions),
        *(*(text.major(amount, currency) for amount in cents), currency),
    ]
