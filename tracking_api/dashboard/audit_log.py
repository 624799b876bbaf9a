"""GET /api/programs/:id/audit-log: who changed what, from what to what."""

from starlette.requests import Request

from presentation import queries, resources
from storage.engine import audit
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web.response import JsonResponse


async def index(request: Request) -> JsonResponse:
    """List the program's audit log."""
    member = await authentication.member(request)
    found = await storage_of(request).read(audit.list_entries, member.program_id, queries.paging(request))
    return JsonResponse(resources.page(found, resources.audit_entry))
