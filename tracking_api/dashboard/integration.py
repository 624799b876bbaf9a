"""GET /api/programs/:id/integration and .../explain: what `svc init` writes, and why a sale was credited or not."""

from starlette.requests import Request

from storage import partners, program_settings
from storage.explain import explain
from storage.pages import Paging
from storage.rules.attribution import PartnerStatus
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import agents_file, diagnosis, queries
from web.answer import Answer

IDENTIFIERS = ("transaction_id", "customer_key", "click_id")


async def show(request: Request) -> Answer:
    """Show the program's AGENTS.md; it holds no secret."""
    member = await authentication.member(request)
    storage, base_url = storage_of(request), request.app.state.settings.base_url
    program = await storage.read(program_settings.read, member.program_id)
    newest = await storage.read(partners.listed, member.program_id, Paging(1), status=PartnerStatus.ACTIVE)
    code = newest.data[0].code if newest.data else None
    markdown = agents_file.written(program, base_url=base_url, code=code)
    return Answer({"program_id": program.id, "base_url": base_url, "agents_md": markdown})


async def why(request: Request) -> Answer:
    """Explain the sale, customer or click that one of the identifiers names."""
    member = await authentication.member(request)
    named = {name: queries.text(request, name) for name in IDENTIFIERS}
    found = await storage_of(request).read(explain, member.program_id, **named, at=time_of(request))
    return Answer(diagnosis.explanation(found))
