"""POST /api/programs, GET|PATCH|DELETE /api/programs/:id: members read; owners create, change and delete."""

from presentation.actions import action
from presentation.api_request import ApiRequest
from presentation.changes import NewProgram, ProgramChange
from presentation.operations import operation
from presentation.resources import ProgramView
from presentation.view import SuccessView
from storage.access.sessions import Visitor
from storage.access.workspaces import Role
from storage.lists.programs import read_program
from storage.management import deletion, program_settings
from storage.rules import settings
from storage.rules.errors import (
    CurrencyNotSupported,
    FieldError,
    Forbidden,
    OwnerRequired,
    ProgramHasEvents,
    ValidationError,
)
from storage.rules.settings import ProgramSettings
from tracking_api.dashboard.roles import VisitorRequest
from web.response import CreatedResponse, ModelResponse


@action("Create a program", OwnerRequired, CurrencyNotSupported, notice="program-created")
async def create_program(call: VisitorRequest, sent: NewProgram) -> CreatedResponse[ProgramView]:
    """Create a program with a hidden key; an owner regenerates the key to see it."""
    chosen = sent.sent()
    workspace_id = _workspace(call.visitor, chosen.pop("workspace_id", None))
    program_id = await call.storage.write(
        program_settings.create, workspace_id, ProgramSettings(**settings.stored(chosen)), at=call.at, actor=call.actor
    )
    return CreatedResponse(ProgramView.of(await call.storage.read(read_program, program_id)))


@operation("A program, with its key masked")
async def get_program(call: ApiRequest) -> ModelResponse[ProgramView]:
    """Return a program, with its key masked."""
    return ModelResponse(ProgramView.of(await call.read(read_program)))


@action(
    "Change a program's settings; new terms apply to later sales only", CurrencyNotSupported, notice="program-changed"
)
async def change_program(call: ApiRequest, sent: ProgramChange) -> ModelResponse[ProgramView]:
    """Change the settings that are sent; earned commissions do not change. A form names the revision that it shows."""
    expected = call.path_id("revision") if "revision" in call.named else None
    changed = await call.write(program_settings.change, sent.sent(), expected_revision=expected)
    return ModelResponse(ProgramView.of(changed))


@action(
    "Delete a program that has no events, or a sandbox; its own sandbox goes with it",
    ProgramHasEvents,
    notice="program-deleted",
)
async def delete_program(call: ApiRequest) -> ModelResponse[SuccessView]:
    """Delete the program. Raises ProgramHasEvents."""
    await call.write(deletion.delete_program)
    return ModelResponse(SuccessView(success=True))


def _workspace(visitor: Visitor, named: int | None) -> int:
    """Return the workspace of a new program: the one that the request names, else the only one that the account owns.

    Raises Forbidden, OwnerRequired, ValidationError.
    """
    roles = {each.workspace_id: each.role for each in visitor.memberships}
    owned = [workspace_id for workspace_id, role in roles.items() if role == Role.OWNER]
    if named is not None and named not in roles:
        raise Forbidden
    if not owned or (named is not None and named not in owned):
        raise OwnerRequired
    if named is None and len(owned) > 1:
        raise ValidationError(fields=[FieldError("workspace_id", "Required: you own more than one workspace")])
    return named or owned[0]
