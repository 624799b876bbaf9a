"""GET /api/programs/:id/refused-calls: keyed calls that were refused in the last 30 days, and why."""

from starlette.requests import Request

from storage import refused_calls
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of
from web import queries, resources
from web.answer import Answer


async def index(request: Request) -> Answer:
    """List the program's refused calls; `?code=` narrows it."""
    member = await authentication.member(request)
    code = queries.text(request, "code")
    found = await storage_of(request).read(refused_calls.listed, member.program_id, queries.paging(request), code=code)
    return Answer(resources.page(found, resources.refused_call))
