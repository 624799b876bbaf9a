"""GET /api/agent/v1/programs, GET|PATCH .../programs/:id: a program's settings, guarded by its ETag."""

from agent_api import revisions
from agent_api.call import AgentRequest
from presentation import queries, resources
from presentation.changes import AgentProgramChange
from storage.management import program_settings
from web import body
from web.response import JsonResponse


async def index(call: AgentRequest) -> JsonResponse:
    """List the programs that the key reaches."""
    found = await call.storage.read(
        program_settings.list_programs,
        workspace_ids=[call.key.workspace_id],
        program_ids=call.key.program_ids,
        paging=queries.paging(call.request),
    )
    return JsonResponse(resources.page(found, resources.program))


async def show(call: AgentRequest) -> JsonResponse:
    """Show a program; its ETag guards a change."""
    program = await call.storage.read(program_settings.get_program, call.program_id)
    return JsonResponse(resources.program(program), headers=revisions.tag(program))


async def change(call: AgentRequest) -> JsonResponse:
    """Change the settings that are sent, unless If-Match names another version than the present one."""
    sent = body.parse(AgentProgramChange, await body.read_body(call.request.scope, call.request.receive)).sent()
    program = await call.storage.write(
        program_settings.change,
        call.program_id,
        sent,
        actor=call.key.actor,
        at=call.at,
        expected_revision=await revisions.expected(call),
        lane=call.program_id,
    )
    return JsonResponse(resources.program(program), headers=revisions.tag(program))
