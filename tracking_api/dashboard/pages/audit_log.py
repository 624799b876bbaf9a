"""The audit log: who changed what, with the value before and after."""

from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from storage.engine import audit
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import page_context, templates


async def list_audit_log(request: Request) -> Response:
    """List the changes, newest first."""
    context = await page_context.as_member(request)
    page = await storage_of(request).read(audit.list_entries, context.program.id, queries.paging(request))
    return templates.render(request, "audit_log.html", context=context, page=page)
