"""GET /api/assistants and DELETE /api/assistants/:id: the assistants that are connected, and how they are ended."""

from datetime import datetime

from pydantic import BaseModel
from starlette.requests import Request

from storage.access import assistants
from storage.rules.scope import Scope
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web.response import JsonResponse


class ConnectedAssistant(BaseModel):
    """An assistant that a member connected. `name` is what its client calls itself: untrusted text.

    `host` is who vouches for it; `last_used_at` is when it last fetched a token: while in use, every 15 minutes.
    """

    id: int
    name: str
    host: str
    workspace_id: int
    email: str
    scopes: list[Scope]
    program_ids: list[int]
    connected_at: datetime
    last_used_at: datetime | None


class ConnectedAssistants(BaseModel):
    """The assistants that a member may see, newest first: their own, and all of workspaces that they own."""

    data: list[ConnectedAssistant]


async def index(request: Request) -> JsonResponse:
    """List the connected assistants."""
    visitor = await authentication.visitor(request)
    found = await storage_of(request).read(assistants.list_assistants, visitor, at=time_of(request))
    return JsonResponse({"data": [each._asdict() for each in found]})


async def disconnect(request: Request) -> JsonResponse:
    """Disconnect an assistant: its tokens are dead when the answer arrives. Raises NotFound."""
    visitor = await authentication.visitor(request)
    assistant_id = authentication.named(request, "assistant_id")
    await storage_of(request).write(assistants.disconnect, assistant_id, visitor=visitor, at=time_of(request))
    return JsonResponse({"success": True})
