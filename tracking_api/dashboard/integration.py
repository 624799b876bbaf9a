"""GET /api/programs/:id/integration and .../explain: what `svc init` writes, and why a sale was credited or not."""

from starlette.requests import Request

from presentation import agents_file, diagnosis
from storage.diagnosis.explanation import explain
from storage.management import partners, program_settings
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web.response import JsonResponse


async def show(request: Request) -> JsonResponse:
    """Show the program's AGENTS.md; it holds no secret."""
    member = await authentication.member(request)
    storage, base_url = storage_of(request), request.app.state.settings.base_url
    program = await storage.read(program_settings.get_program, member.program_id)
    code = await storage.read(partners.newest_code, member.program_id)
    markdown = agents_file.written(program, base_url=base_url, code=code)
    return JsonResponse({"program_id": program.id, "base_url": base_url, "agents_md": markdown})


async def why(request: Request) -> JsonResponse:
    """Explain the sale, customer or click that one of the identifiers names."""
    member = await authentication.member(request)
    found = await storage_of(request).read(explain, member.program_id, **diagnosis.asked(request), at=time_of(request))
    return JsonResponse(diagnosis.explanation(found))
