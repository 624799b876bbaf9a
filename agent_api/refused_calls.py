"""GET /api/agent/v1/programs/:id/refused-calls: keyed calls that were refused in the last 30 days."""

from agent_api.call import Call
from storage import refused_calls
from web import queries, resources
from web.answer import Answer


async def index(call: Call) -> Answer:
    """List the program's refused calls; `?code=` narrows it."""
    code = queries.text(call.request, "code")
    found = await call.storage.read(refused_calls.listed, call.program_id, queries.paging(call.request), code=code)
    return Answer(resources.page(found, resources.refused_call))
