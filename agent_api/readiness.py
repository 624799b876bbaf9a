"""GET /api/agent/v1/programs/:id/readiness: what stands between the program and its first credited sale."""

from agent_api.call import Call
from storage import readiness
from web import diagnosis
from web.answer import Answer


async def show(call: Call) -> Answer:
    """Show the gates, the blocker and the identifiers' health."""
    found = await call.storage.read(readiness.read, call.program_id, at=call.at)
    return Answer(diagnosis.readiness(found))
