"""Programs, their keys and sandboxes: POST /api/programs, /api/programs/:id and what is under it, settings' pages."""

from collections.abc import Mapping
from typing import Any

from presentation import backtests, changes, guides, queries, resources, settings_models
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import DataView, View, with_fields_of
from storage.access import program_keys, workspaces
from storage.lists.partners import newest_code
from storage.lists.programs import read_program
from storage.management import agent_caps, program_settings
from storage.payments import accounts
from storage.reports.backtest_result import BacktestResult
from storage.rules import agent_caps as rules
from storage.rules import errors, settings
from storage.rules.draft import DraftChange
from storage.rules.settings import BY_NAME, SECTIONS, SETTINGS, ProgramSettings, published
from tracking_api.dashboard.authentication import VisitorRequest, visitor_request
from tracking_api.dashboard.pages import forms, page_context
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormOutcome, FormPage, drawn
from web.response import CreatedResponse

CHOSEN_FIRST = [BY_NAME[name] for name in ("name", "domain", "commission_type", "commission_rate", "currency")]
CAPS_BY_SECTION = {section: [cap for cap in rules.CAPS if cap.section == section] for section in rules.SECTIONS}
FREEZABLE_NAMES = [(name, BY_NAME[name].label) for name in rules.FREEZABLE]
BY_SECTION = {section: [setting for setting in SETTINGS if setting.section == section] for section in SECTIONS}
REPLACED = "This key was already replaced, so nothing changed. A new key is shown only once, when it is created."


@operation(errors.OwnerRequired, errors.CurrencyNotSupported, notice="program-created")
async def create_program(call: VisitorRequest, sent: changes.NewProgram) -> CreatedResponse[resources.ProgramView]:
    """Create a program with a hidden key, which an owner replaces to see one."""
    chosen, owned = sent.sent(), call.visitor.owned
    workspace_id = chosen.pop("workspace_id", None)
    if workspace_id is not None:
        call.visitor.in_workspace(workspace_id, workspaces.OWNERS)
    elif not owned:
        raise errors.OwnerRequired
    elif len(owned) > 1:
        raise errors.ValidationError.of("workspace_id", "Required: you own more than one workspace")
    else:
        workspace_id = owned[0].workspace_id
    program_id = await call.storage.write(
        program_settings.create, workspace_id, ProgramSettings(**settings.stored(chosen)), by=call.by
    )
    return CreatedResponse(resources.ProgramView.of(await call.storage.read(read_program, program_id)))


@operation(errors.RateLimited)
async def price_settings(call: page_context.PageContext, sent: changes.ProgramChange) -> BacktestResult:
    """Price the last 90 days under the settings of a form, which nothing changes."""
    now = published(call.program.settings)
    draft = {name: value for name, value in sent.sent().items() if value != now[name]}
    return await backtests.run(call, [DraftChange(draft)], days=backtests.FORM_DAYS)


@operation(errors.ProgramHasEvents, notice="program-deleted")
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
    code = await call.read(newest_code)
    framework = queries.text(call.request.query_params, "framework")
    markdown = guides.agents_file(program, base_url=base_url, code=code, framework=framework)
    account = await call.read(accounts.find_account)
    connected = account and account.account_id
    return IntegrationView(program_id=program.id, base_url=base_url, agents_md=markdown, payment_account=connected)


@settings_models.with_settings(settings_models.shown, rules.CAPS)
class AgentCapsView(View):
    """The caps of a program's agent keys; amounts are in cents of the program's currency."""


@operation()
async def get_agent_caps(call: ApiRequest) -> AgentCapsView:
    """Return the caps of the program's agent keys."""
    return AgentCapsView(**published(await call.read(agent_caps.get_caps), rules.CAPS))


@operation(notice="caps-changed")
async def change_agent_caps(call: ApiRequest, sent: changes.AgentCapsChange) -> AgentCapsView:
    """Change the caps of the program's agent keys."""
    return AgentCapsView(**published(await call.write(agent_caps.change, sent.sent()), rules.CAPS))


async def _caps_page(context: page_context.PageContext, outcome: FormOutcome) -> dict[str, Any]:
    caps = published(await context.read(agent_caps.get_caps), rules.CAPS)
    typed = {**(outcome.typed or forms.of_settings(rules.CAPS, caps, context.currency)), "currency": context.currency}
    return {"typed": typed, "sections": CAPS_BY_SECTION, "names": FREEZABLE_NAMES}


async def _new_page(call: VisitorRequest, _: FormOutcome) -> dict[str, Any]:
    owned = call.visitor.owned
    if not owned:
        raise errors.OwnerRequired
    defaults = ProgramSettings("", "")
    return {
        "stored": forms.of_settings(SETTINGS, settings.published(defaults), defaults.currency),
        "owned": owned,
        "workspaces": [(str(each.workspace_id), each.name) for each in owned],
        "settings": CHOSEN_FIRST,
    }


async def _settings_page(context: page_context.PageContext, outcome: FormOutcome) -> dict[str, Any]:
    stored = forms.of_settings(SETTINGS, settings.published(context.program.settings), context.currency)
    stored["revision"] = str(context.program.revision)
    return {
        "typed": {**stored, **outcome.typed},
        "sections": BY_SECTION,
        "fixed": {"currency"} if await context.read(program_settings.is_currency_fixed) else set(),
        "has_events": await context.read(program_settings.has_events),
    }


def _saved(context: page_context.PageContext, response: Mapping[str, Any]) -> str:
    is_same = response["status"] == context.program.settings.status
    return "program-changed" if is_same else f"program-{response['status']}"


NEW = FormPage(
    drawn("new_program.html", _new_page),
    Button(create_program, then="/programs/{id}/settings/checklist"),
    viewer=visitor_request,
)
SETTINGS_PAGE = FormPage(
    drawn("settings.html", _settings_page),
    {
        "": Button(changes.change_program, notice=_saved),
        "price": Button(price_settings, is_trial=True),
        "delete": Button(delete_program, then="/programs", unticked="Select the box first: it cannot be restored."),
    },
)
CAPS_PAGE = FormPage(drawn("agent_caps.html", _caps_page), Button(change_agent_caps))


@with_fields_of(program_keys.NewKey)
class NewKeyView(View):
    """A program's new key; only this response shows `api_token`."""


@operation()
async def regenerate_program_key(call: ApiRequest) -> DataView[NewKeyView]:
    """Replace the program's key; the old one stops working at once."""
    # A form names the key that it replaces, so that a reloaded page does not replace the key again.
    if "replaces" in call.named and call.named["replaces"] != (await call.read(read_program)).api_token_masked:
        raise errors.ValidationError(REPLACED)
    return DataView(data=NewKeyView.of(await call.write(program_keys.regenerate)))


class SandboxKeyView(NewKeyView):
    """A sandbox and its new key; only this response shows `api_token`."""

    program_id: int


@operation()
async def open_sandbox(call: ApiRequest) -> DataView[SandboxKeyView]:
    """Create the program's sandbox, or give it a new key."""
    program_id, key = await call.write(program_settings.open_sandbox)
    return DataView(data=SandboxKeyView(program_id=program_id, **key._asdict()))


@operation(errors.NotFound, notice="sandbox-emptied")
async def empty_sandbox(call: ApiRequest) -> None:
    """Delete every event of the program's sandbox; its settings, key and partners stay."""
    await call.write(program_settings.empty_sandbox)


async def _sandbox_page(context: page_context.PageContext, _: FormOutcome) -> dict[str, Any]:
    return {"sandbox_id": await context.read(program_settings.find_sandbox)}


SANDBOX_PAGE = FormPage(
    drawn("sandbox.html", _sandbox_page),
    {
        "open": Button(open_sandbox),
        "renew": Button(open_sandbox, question=QUESTIONS["new-sandbox-key"]),
        "empty": Button(empty_sandbox, unticked="Tick the box first: deleted events cannot be restored."),
    },
)
