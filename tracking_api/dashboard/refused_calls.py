"""GET /api/programs/:id/refused-calls: keyed calls that were refused in the last 30 days, and why."""

from starlette.requests import Request

from presentation import queries, resources
from storage.reading import rejected_calls
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web.response import JsonResponse


async def index(request: Request) -> JsonResponse:
    """List the program's refused calls; `?code=` narrows it."""
    member = await authentication.member(request)
    code = queries.text(request, "code")
    found = await storage_of(request).read(
        rejected_calls.list_calls, member.program_id, queries.paging(request), code=code
    )
    return JsonResponse(resources.page(found, resources.refused_call))
