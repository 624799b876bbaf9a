"""GET|POST /api/programs/:id/partners, PATCH .../partners/:partnerId: members read, owners enrol and change."""

from starlette.requests import Request

from presentation import queries, resources
from presentation.changes import NewPartner, PartnerChange
from storage.management import partners
from storage.rules.attribution import PartnerStatus
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import body
from web.response import JsonResponse


async def index(request: Request) -> JsonResponse:
    """List the program's partners; `?status=` narrows it."""
    member = await authentication.member(request)
    status = queries.choice(request, "status", PartnerStatus)
    found = await storage_of(request).read(
        partners.list_partners, member.program_id, queries.paging(request), status=status
    )
    return JsonResponse(resources.page(found, resources.partner))


async def enrol(request: Request) -> JsonResponse:
    """Enrol a partner."""
    owner = await authentication.owner(request)
    sent = body.parse(NewPartner, await body.read_body(request.scope, request.receive)).sent()
    enrolled = await storage_of(request).write(
        partners.enrol,
        owner.program_id,
        **sent,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return JsonResponse(resources.partner(enrolled), 201)


async def change(request: Request) -> JsonResponse:
    """Change a partner's name, e-mail address, code or status."""
    owner = await authentication.owner(request)
    partner_id = authentication.named(request, "partner_id")
    sent = body.parse(PartnerChange, await body.read_body(request.scope, request.receive)).sent()
    changed = await storage_of(request).write(
        partners.change,
        owner.program_id,
        partner_id,
        sent,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return JsonResponse(resources.partner(changed))
