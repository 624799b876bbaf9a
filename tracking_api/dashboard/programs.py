"""Programs: POST /api/programs, GET|PATCH|DELETE .../:id, GET .../integration, their list, and the settings' pages."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from starlette.responses import Response

from presentation import guides, queries
from presentation.api_request import ApiRequest
from presentation.changes import AgentCapsChange, NewProgram, ProgramChange
from presentation.operations import operation
from presentation.resources import ProgramView
from presentation.settings_models import shown, with_settings
from presentation.view import View
from storage.access.workspaces import OWNERS
from storage.lists.declaration import Page
from storage.lists.partners import newest_code
from storage.lists.programs import PROGRAMS, Program, read_program
from storage.management import agent_caps, program_settings
from storage.payments import accounts
from storage.reports.performance import Performance, read_performance
from storage.rules import agent_caps as rules
from storage.rules import settings
from storage.rules.agent_caps import CAPS, FREEZABLE
from storage.rules.attribution import ProgramStatus
from storage.rules.errors import CurrencyNotSupported, FieldError, OwnerRequired, ProgramHasEvents, ValidationError
from storage.rules.settings import BY_NAME, SECTIONS, SETTINGS, ProgramSettings, published
from tracking_api.dashboard.authentication import VisitorRequest, visitor_request
from tracking_api.dashboard.pages import forms
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.pages.page_context import PageContext
from web.response import CreatedResponse

CHOSEN_FIRST = [BY_NAME[name] for name in ("name", "domain", "commission_type", "commission_rate", "currency")]
CAPS_BY_SECTION = {section: [cap for cap in CAPS if cap.section == section] for section in rules.SECTIONS}
FREEZABLE_NAMES = [(name, BY_NAME[name].label) for name in FREEZABLE]
BY_SECTION = {section: [setting for setting in SETTINGS if setting.section == section] for section in SECTIONS}


@operation(OwnerRequired, CurrencyNotSupported, notice="program-created")
async def create_program(call: VisitorRequest, sent: NewProgram) -> CreatedResponse[ProgramView]:
    """Create a program with a hidden key, which an owner replaces to see one."""
    chosen, owned = sent.sent(), call.visitor.owned
    workspace_id = chosen.pop("workspace_id", None)
    if workspace_id is not None:
        call.visitor.in_workspace(workspace_id, OWNERS)
    elif not owned:
        raise OwnerRequired
    elif len(owned) > 1:
        raise ValidationError(fields=[FieldError("workspace_id", "Required: you own more than one workspace")])
    else:
        workspace_id = owned[0].workspace_id
    program_id = await call.storage.write(
        program_settings.create, workspace_id, ProgramSettings(**settings.stored(chosen)), at=call.at, actor=call.actor
    )
    return CreatedResponse(ProgramView.of(await call.storage.read(read_program, program_id)))


@operation()
async def get_program(call: ApiRequest) -> ProgramView:
    """Return a program, with its key masked."""
    return ProgramView.of(await call.read(read_program))


@operation(CurrencyNotSupported)
async def change_program(call: ApiRequest, sent: ProgramChange) -> ProgramView:
    """Change a program's settings; new terms apply to later sales only."""
    expected = call.path_id("revision") if "revision" in call.named else None  # what the form shows
    return ProgramView.of(await call.write(program_settings.change, sent.sent(), expected_revision=expected))


@operation(ProgramHasEvents, notice="program-deleted")
async def delete_program(call: ApiRequest) -> None:
    """Delete a program that has no events, or a sandbox; its own sandbox goes with it."""
    await call.write(program_settings.delete_program)


class IntegrationView(View):
    """The guide that `svc init` writes: Markdown for coding agents, without a secret."""

    program_id: int
    base_url: str
    agents_md: str
    payment_account: str | None


@operation(query={"framework": "Its snippets come first."})
async def get_integration(call: ApiRequest) -> IntegrationView:
    """Return what `svc init` writes: the program's AGENTS.md, which has no secret."""
    base_url = call.request.app.state.settings.base_url
    program = await call.read(read_program)
    code, framework = await call.read(newest_code), queries.text(call.request.query_params, "framework")
    markdown = guides.agents_file(program, base_url=base_url, code=code, framework=framework)
    account = await call.read(accounts.find_account_id)
    return IntegrationView(program_id=program.id, base_url=base_url, agents_md=markdown, payment_account=account)


@with_settings(shown, CAPS)
class AgentCapsView(View):
    """The caps of a program's agent keys; amounts are in cents of the program's currency."""


@operation()
async def get_agent_caps(call: ApiRequest) -> AgentCapsView:
    """Return the caps of the program's agent keys."""
    return AgentCapsView(**published(await call.read(agent_caps.get_caps), CAPS))


@operation(notice="caps-changed")
async def change_agent_caps(call: ApiRequest, sent: AgentCapsChange) -> AgentCapsView:
    """Change the caps of the program's agent keys."""
    return AgentCapsView(**published(await call.write(agent_caps.change, sent.sent()), CAPS))


async def _caps_page(context: PageContext, outcome: FormOutcome) -> Response:
    caps = published(await context.read(agent_caps.get_caps), CAPS)
    typed = outcome.typed or forms.of_settings(CAPS, caps, context.currency)
    typed = {**typed, "currency": context.currency}
    return outcome.page(context, "agent_caps.html", typed=typed, sections=CAPS_BY_SECTION, names=FREEZABLE_NAMES)


async def _new_page(call: VisitorRequest, outcome: FormOutcome) -> Response:
    owned = call.visitor.owned
    if not owned:
        raise OwnerRequired
    defaults = ProgramSettings("", "")
    return outcome.page(
        call,
        "new_program.html",
        stored=forms.of_settings(SETTINGS, settings.published(defaults), defaults.currency),
        owned=owned,
        workspaces=[(str(each.workspace_id), each.name) for each in owned],
        settings=CHOSEN_FIRST,
    )


async def _settings_page(context: PageContext, outcome: FormOutcome) -> Response:
    stored = forms.of_settings(SETTINGS, settings.published(context.program.settings), context.currency)
    stored["revision"] = str(context.program.revision)
    return outcome.page(
        context,
        "settings.html",
        typed={**stored, **outcome.typed},
        sections=BY_SECTION,
        fixed={"currency"} if await context.read(program_settings.is_currency_fixed) else set(),
        has_events=await context.read(program_settings.has_events),
    )


def _saved(context: PageContext, response: Mapping[str, Any]) -> str:
    is_same = response["status"] == context.program.settings.status
    return "program-changed" if is_same else f"program-{response['status']}"


NEW = FormPage(_new_page, Button(create_program, then="/programs/{id}/settings/checklist"), viewer=visitor_request)
SETTINGS_PAGE = FormPage(_settings_page, Button(change_program, notice=_saved))
DELETE = FormPage(
    _settings_page,
    Button(delete_program, then="/programs", unticked="Select the box first: a deleted program cannot be restored."),
)
CAPS_PAGE = FormPage(_caps_page, Button(change_agent_caps))


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
    ids, query = [each.id for each in listed.data], state.picker.picked
    reports = await call.storage.report(
        lambda connection: [read_performance(connection, each, query, at=call.at) for each in ids]
    )
    rows = []
    for each, report in zip(listed.data, reports, strict=True):
        named = each._asdict() | report.current._asdict() | {"report": report}
        rows.append(ProgramResults._make(named[name] for name in ProgramResults._fields))
    return Page(rows, *listed[1:])


PROGRAM_LIST = ListPage(PROGRAMS, "programs.html", viewer=visitor_request, complete=_with_results, row=ProgramResults)
