"""GET|PATCH /api/agent/v1/programs/:id: a program's settings, guarded by its ETag."""

from agent_api import revisions
from agent_api.call import AgentRequest
from presentation.changes import AgentProgramChange
from presentation.operations import operation
from presentation.resources import ProgramView
from storage.lists.programs import read_program
from storage.management import program_settings
from storage.rules.errors import CurrencyNotSupported, OverCap, PreconditionFailed
from web.response import ModelResponse


@operation("A program; its ETag guards a change", response_headers=("ETag",))
async def get_program(call: AgentRequest) -> ModelResponse[ProgramView]:
    """Return a program; its ETag guards a change."""
    program = await call.read(read_program)
    return ModelResponse(ProgramView.of(program), revisions.tag(program))


@operation(
    "Change a program's settings; new terms apply to later sales only",
    CurrencyNotSupported,
    OverCap,
    PreconditionFailed,
    body=AgentProgramChange,
    headers={"If-Match": "The ETag of the version to change; if there is a newer one, the response is 412."},
    response_headers=("ETag",),
)
async def change_program(call: AgentRequest) -> ModelResponse[ProgramView]:
    """Change the settings that are sent within the owner's caps, unless If-Match names another version."""
    sent = (await call.parse(AgentProgramChange)).sent()
    expected = await revisions.expected(call)
    program = await call.write(program_settings.change, sent, expected_revision=expected)
    return ModelResponse(ProgramView.of(program), revisions.tag(program))
