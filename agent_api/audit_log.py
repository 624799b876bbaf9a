"""GET /api/agent/v1/programs/:id/audit-log: who changed what, from what to what."""

from agent_api.call import Call
from storage import audit
from web import queries, resources
from web.answer import Answer


async def index(call: Call) -> Answer:
    """List the program's audit log."""
    found = await call.storage.read(audit.listed, call.program_id, queries.paging(call.request))
    return Answer(resources.page(found, resources.audit_entry))
