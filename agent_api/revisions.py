"""ETag and If-Match: a program's revision, which protects a change from a concurrent one."""

import re

from agent_api.call import AgentRequest
from storage.lists.programs import Program, read_program

NEVER = -1  # the revision of no program: a tag that cannot be ours matches nothing
_TAG = re.compile(r'(W/)?"([^"]*)"')
_REVISION = re.compile(r"[0-9]{1,9}")


def tag(program: Program) -> dict[str, str]:
    """Return the ETag header of a program."""
    return {"ETag": f'"{program.revision}"'}


async def expected(call: AgentRequest) -> int | None:
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
