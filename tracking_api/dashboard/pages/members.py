"""The members of the program's workspace, and what each may do."""

from starlette.requests import Request
from starlette.responses import Response

from storage import members
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import seen, templates


async def index(request: Request) -> Response:
    """List the members."""
    see = await seen.as_member(request)
    found = await storage_of(request).read(members.listed, see.member.workspace_id)
    return templates.render(request, "members.html", seen=see, found=found)
