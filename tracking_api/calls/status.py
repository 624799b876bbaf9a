"""GET /api/v1/cli/status: the health of a program, for its program key."""

from typing import Any

from storage.reports import program_status
from storage.reports.program_status import ProgramHealth
from tracking_api.calls.call import Endpoint, TrackingRequest
from tracking_api.calls.described import keyed_call
from tracking_api.calls.responses import StatusView
from web.response import JsonResponse


async def status(call: TrackingRequest) -> JsonResponse:
    """Return the program's health and its integration checklist."""
    key_hash = call.require_key().key_hash
    await call.limit("keyed", key_hash)
    health: ProgramHealth = await call.storage.read(
        program_status.get_status, key_hash, at=call.at, base_url=call.services.settings.base_url
    )
    call.key = health.key
    return JsonResponse({"success": True, "data": _data(health)})


def _data(health: ProgramHealth) -> dict[str, Any]:
    return {
        "program_id": health.key.program_id,
        "name": health.name,
        "domain": health.domain,
        "lead_auth_policy": health.lead_auth_policy,
        "api_token_masked": health.api_token_masked,
        "rotate_by": health.key.rotate_by,
        "payment_account_connected": health.payment_account_connected,
        "recent_events": {
            "clicks_24h": health.clicks_24h,
            "leads_24h": health.leads_24h,
            "sales_24h": health.sales_24h,
        },
        "active_partners": health.active_partners,
        "pending_commissions": health.pending_commissions,
        "provisional_leads": health.provisional_leads,
        "refused_calls_24h": health.refused_calls_24h,
        "checklist": [step._asdict() for step in health.checklist],
        **({"latest_payments": health.latest_payments._asdict()} if health.payment_account_connected else {}),
        **({} if health.sandbox_of is None else {"sandbox_of": health.sandbox_of}),
    }


endpoint = Endpoint(status)
DESCRIPTION = keyed_call(
    "getStatus",
    "Get the health of the key's program and its integration checklist",
    responses=(StatusView,),
)
