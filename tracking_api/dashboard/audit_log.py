"""GET /api/programs/:id/audit-log: who changed what, from what to what."""

from starlette.requests import Request

from storage import audit
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web import queries, resources
from web.answer import Answer


async def index(request: Request) -> Answer:
    """List the program's audit log."""
    member = await authentication.member(request)
    found = await storage_of(request).read(audit.listed, member.program_id, queries.paging(request))
    return Answer(resources.page(found, resources.audit_entry))
