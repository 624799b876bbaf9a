"""GET /api/programs/:id/integration and .../explain: what `svc init` writes, and why a sale was credited or not."""

from starlette.requests import Request

from storage import partners, program_settings
from storage.explain import explain
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import agents_file, diagnosis
from web.answer import Answer


async def show(request: Request) -> Answer:
    """Show the program's AGENTS.md; it holds no secret."""
    member = await authentication.member(request)
    storage, base_url = storage_of(request), request.app.state.settings.base_url
    program = await storage.read(program_settings.read, member.program_id)
    code = await storage.read(partners.newest_code, member.program_id)
    markdown = agents_file.written(program, base_url=base_url, code=code)
    return Answer({"program_id": program.id, "base_url": base_url, "agents_md": markdown})


async def why(request: Request) -> Answer:
    """Explain the sale, customer or click that one of the identifiers names."""
    member = await authentication.member(request)
    found = await storage_of(request).read(explain, member.program_id, **diagnosis.asked(request), at=time_of(request))
    return Answer(diagnosis.explanation(found))
