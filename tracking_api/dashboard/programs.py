"""GET|POST /api/programs, GET|PATCH /api/programs/:id: members read, owners create and change."""

from starlette.requests import Request

from presentation import queries, resources
from presentation.changes import NewProgram, ProgramChange
from storage.access.sessions import Visitor
from storage.access.workspaces import Role
from storage.management import program_settings
from storage.management.program_settings import Program
from storage.rules import settings
from storage.rules.errors import FieldError, Forbidden, OwnerRequired, ValidationError
from storage.rules.settings import ProgramSettings
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import body
from web.response import JsonResponse


async def index(request: Request) -> JsonResponse:
    """List the programs of every workspace that the visitor is a member of."""
    visitor = await authentication.visitor(request)
    reach = [each.workspace_id for each in visitor.memberships]
    found = await storage_of(request).read(
        program_settings.list_programs, workspace_ids=reach, paging=queries.paging(request)
    )
    return JsonResponse(resources.page(found, resources.program))


async def create(request: Request) -> JsonResponse:
    """Create a program; its key exists from now on, and an owner regenerates it to see one."""
    visitor = await authentication.visitor(request)
    sent = body.parse(NewProgram, await body.read_body(request.scope, request.receive)).sent()
    workspace_id = _workspace(visitor, sent.pop("workspace_id", None))
    storage, at = storage_of(request), time_of(request)
    program_id = await storage.write(
        program_settings.create, workspace_id, ProgramSettings(**settings.stored(sent)), at=at, actor=visitor.actor
    )
    return await _shown(request, program_id, status=201)


async def show(request: Request) -> JsonResponse:
    """Show a program; of its key only the mask."""
    member = await authentication.member(request)
    return await _shown(request, member.program_id)


async def change(request: Request) -> JsonResponse:
    """Change the settings that are sent; what was earned under the old terms stays as it is."""
    owner = await authentication.owner(request)
    sent = body.parse(ProgramChange, await body.read_body(request.scope, request.receive)).sent()
    changed: Program = await storage_of(request).write(
        program_settings.change,
        owner.program_id,
        sent,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return JsonResponse(resources.program(changed))


async def _shown(request: Request, program_id: int, *, status: int = 200) -> JsonResponse:
    program = await storage_of(request).read(program_settings.get_program, program_id)
    return JsonResponse(resources.program(program), status)


def _workspace(visitor: Visitor, named: int | None) -> int:
    """Return the workspace that a new program goes to: the one that is named, else the only one that is owned.

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
