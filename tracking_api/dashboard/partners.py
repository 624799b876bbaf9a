"""GET|POST /api/programs/:id/partners, PATCH .../partners/:partnerId: members read, owners enrol and change."""

from starlette.requests import Request

from storage import partners
from storage.rules.attribution import PartnerStatus
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import body, queries, resources
from web.answer import Answer
from web.changes import NewPartner, PartnerChange


async def index(request: Request) -> Answer:
    """List the program's partners; `?status=` narrows it."""
    member = await authentication.member(request)
    status = queries.choice(request, "status", PartnerStatus)
    found = await storage_of(request).read(partners.listed, member.program_id, queries.paging(request), status=status)
    return Answer(resources.page(found, resources.partner))


async def enrol(request: Request) -> Answer:
    """Enrol a partner."""
    owner = await authentication.owner(request)
    sent = body.parse(NewPartner, await body.read(request.scope, request.receive)).sent()
    enrolled = await storage_of(request).write(
        partners.enrol,
        owner.program_id,
        **sent,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return Answer(resources.partner(enrolled), 201)


async def change(request: Request) -> Answer:
    """Change a partner's name, e-mail address, code or status."""
    owner = await authentication.owner(request)
    partner_id = authentication.named(request, "partner_id")
    sent = body.parse(PartnerChange, await body.read(request.scope, request.receive)).sent()
    changed = await storage_of(request).write(
        partners.change,
        owner.program_id,
        partner_id,
        sent,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return Answer(resources.partner(changed))
