"""The members of the program's workspace, and what each may do."""

from starlette.requests import Request
from starlette.responses import Response

from storage.access import members
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import page_context, templates


async def list_members(request: Request) -> Response:
    """List the members."""
    context = await page_context.as_member(request)
    rows = await storage_of(request).read(members.list_members, context.member.workspace_id)
    return templates.render(request, "members.html", context=context, members=rows)
