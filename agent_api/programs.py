"""GET /api/agent/v1/programs, GET|PATCH .../programs/:id: a program's settings, guarded by its ETag."""

from agent_api import revisions
from agent_api.call import Call
from storage import program_settings
from web import body, queries, resources
from web.answer import Answer
from web.changes import ProgramSettings


async def index(call: Call) -> Answer:
    """List the programs that the key reaches."""
    found = await call.storage.read(
        program_settings.listed,
        workspace_ids=[call.key.workspace_id],
        program_ids=call.key.program_ids,
        paging=queries.paging(call.request),
    )
    return Answer(resources.page(found, resources.program))


async def show(call: Call) -> Answer:
    """Show a program; its ETag guards a change."""
    program = await call.storage.read(program_settings.read, call.program_id)
    return Answer(resources.program(program), headers=revisions.tag(program))


async def change(call: Call) -> Answer:
    """Change the settings that are sent, unless If-Match names another version than the present one."""
    sent = body.parse(ProgramSettings, await body.read(call.request.scope, call.request.receive)).sent()
    program = await call.storage.write(
        program_settings.change,
        call.program_id,
        sent,
        actor=call.key.actor,
        at=call.at,
        expected_revision=await revisions.expected(call),
        lane=call.program_id,
    )
    return Answer(resources.program(program), headers=revisions.tag(program))
