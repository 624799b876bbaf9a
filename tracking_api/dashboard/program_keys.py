"""POST /api/programs/:id/regenerate-api-token: the one answer that shows a program key."""

from starlette.requests import Request

from storage.access import program_keys
from storage.access.program_keys import NewKey
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.sessions import NO_STORE
from web.response import JsonResponse


async def regenerate(request: Request) -> JsonResponse:
    """Replace the program's key; the old one is dead when this is answered."""
    owner = await authentication.owner(request)
    new_key: NewKey = await storage_of(request).write(
        program_keys.regenerate,
        owner.program_id,
        at=time_of(request),
        actor=owner.actor,
        lane=owner.program_id,
    )
    shown = {"api_token": new_key.secret, "api_token_masked": new_key.masked}
    return JsonResponse({"data": shown}, headers=NO_STORE)
