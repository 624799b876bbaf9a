"""The programs of the visitor's workspaces, and the form that creates another."""

from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from presentation.changes import NewProgram
from storage.access.sessions import Membership, Visitor
from storage.access.workspaces import Role
from storage.management import program_settings
from storage.reading import performance
from storage.rules import settings
from storage.rules.errors import CurrencyNotSupported, OwnerRequired, ValidationError
from storage.rules.period import DateRangeQuery, Period
from storage.rules.settings import BY_NAME, ProgramSettings
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices, templates, values
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.page import redirect
from web import body

CHOSEN_FIRST = [BY_NAME[name] for name in ("name", "domain", "commission_type", "commission_rate", "currency")]


async def list_programs(request: Request) -> Response:
    """List the programs with their last 30 days."""
    visitor = await authentication.visitor(request)
    reach = [each.workspace_id for each in visitor.memberships]
    storage, at = storage_of(request), time_of(request)
    page = await storage.read(program_settings.list_programs, workspace_ids=reach, paging=queries.paging(request))
    shown_ids = [each.id for each in page.data]
    reports = await storage.report(performance.read_each, shown_ids, DateRangeQuery(Period.THIRTY_DAYS), at=at)
    results = list(zip(page.data, reports, strict=True))
    shown: dict[str, Any] = {"page": page, "results": results, "names": _names(visitor)}
    return templates.render(request, "programs.html", visitor=visitor, owned=_owned(visitor), **shown)


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


def _names(visitor: Visitor) -> dict[int, str]:
    return {each.workspace_id: each.name for each in visitor.memberships}
