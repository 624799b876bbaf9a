"""GET|PATCH /api/agent/v1/programs/:id: a program's settings, which its ETag protects from a concurrent change."""

import re

from agent_api.call import AgentRequest
from presentation.changes import AgentProgramChange
from presentation.operations import operation
from presentation.resources import ProgramView
from storage.lists.programs import Program, read_program
from storage.management import program_settings
from storage.rules.errors import CurrencyNotSupported, OverCap, PreconditionFailed
from web.response import ModelResponse

NEVER = -1  # the revision of no program: a tag that cannot be ours matches nothing
_TAG = re.compile(r'(W/)?"([^"]*)"')
_REVISION = re.compile(r"[0-9]{1,9}")


@operation(response_headers=("ETag",))
async def get_program(call: AgentRequest) -> ModelResponse[ProgramView]:
    """Return a program; its ETag guards a change."""
    return _tagged(await call.read(read_program))


@operation(
    *(CurrencyNotSupported, OverCap, PreconditionFailed),
    headers={"If-Match": "The ETag of the version to change; if there is a newer one, the response is 412."},
    response_headers=("ETag",),
)
async def change_program(call: AgentRequest, sent: AgentProgramChange) -> ModelResponse[ProgramView]:
    """Change a program's settings; new terms apply to later sales only."""
    return _tagged(await call.write(program_settings.change, sent.sent(), expected_revision=await _expected(call)))


def _tagged(program: Program) -> ModelResponse[ProgramView]:
    return ModelResponse(ProgramView.of(program), {"ETag": f'"{program.revision}"'})


async def _expected(call: AgentRequest) -> int | None:
    """Return the revision in `If-Match`, None for any.

    Of several tags the one that matches now counts. A weak tag never matches (RFC 9110, 13.1.1).
    """
    header = call.request.headers.get("if-match")
    if header is None or header.strip() == "*":
        return None
    revisions = [int(value) for weak, value in _TAG.findall(header) if not weak and _REVISION.fullmatch(value)]
    if len(revisions) > 1:
        program = await call.read(read_program)
        revisions = [revision for revision in revisions if revision == program.revision]
    return revisions[0] if revisions else NEVER
