"""GET|PATCH /api/programs/:id/commissions, PATCH .../commissions/:commissionId: members read, owners decide."""

from typing import Any

from starlette.requests import Request

from presentation import queries, resources
from presentation.changes import CommissionChange, CommissionChanges
from storage.management import commissions
from storage.management.commissions import Commission
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from web import body
from web.errors import error_body
from web.response import JsonResponse


async def index(request: Request) -> JsonResponse:
    """List the program's commissions; `?status=` and `?partner_id=` narrow it."""
    member = await authentication.member(request)
    found = await storage_of(request).read(
        commissions.list_commissions,
        member.program_id,
        queries.paging(request),
        status=queries.choice(request, "status", CommissionStatus),
        partner_id=queries.number(request, "partner_id"),
    )
    return JsonResponse(resources.page(found, resources.commission))


async def decide(request: Request) -> JsonResponse:
    """Approve, reject or pay a commission."""
    owner = await authentication.owner(request)
    commission_id = authentication.named(request, "commission_id")
    sent = body.parse(CommissionChange, await body.read_body(request.scope, request.receive))
    decided = await storage_of(request).write(
        commissions.decide,
        owner.program_id,
        commission_id,
        sent.status,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return JsonResponse(resources.commission(decided))


async def decide_each(request: Request) -> JsonResponse:
    """Decide up to 200 commissions alike; each has its own result, a commission or an error."""
    owner = await authentication.owner(request)
    sent = body.parse(CommissionChanges, await body.read_body(request.scope, request.receive))
    results = await storage_of(request).write(
        commissions.decide_each,
        owner.program_id,
        sent.ids,
        sent.status,
        actor=owner.actor,
        at=time_of(request),
        lane=owner.program_id,
    )
    return JsonResponse({"data": [_result(request, *result) for result in results.items()]})


def _result(request: Request, commission_id: int, result: Commission | ServiceError) -> dict[str, Any]:
    if isinstance(result, ServiceError):
        return {"id": commission_id, "error": error_body(result, request.scope["request_id"])["error"]}
    return resources.commission(result)
