"""GET /api/v1/cli/status: the health of a program, for its program key."""

from typing import Any

from storage.reading import program_status
from storage.reading.program_status import ProgramStatus
from tracking_api.calls.call import Endpoint, TrackingRequest
from tracking_api.calls.described import keyed_call
from tracking_api.calls.responses import StatusView
from web.response import JsonResponse


async def status(call: TrackingRequest) -> JsonResponse:
    """Return the program's health and its integration checklist."""
    key_hash = call.require_key().key_hash
    await call.limit("keyed", key_hash)
    found: ProgramStatus = await call.storage.read(program_status.get_status, key_hash, at=call.at)
    call.key = found.key
    return call.answer({"success": True, "data": _data(found)})


def _data(found: ProgramStatus) -> dict[str, Any]:
    return {
        "program_id": found.key.program_id,
        "name": found.name,
        "domain": found.domain,
        "lead_auth_policy": found.lead_auth_policy,
        "api_token_masked": found.api_token_masked,
        "rotate_by": found.key.rotate_by,
        "payment_account_connected": found.payment_account_connected,
        "recent_events": {
            "clicks_24h": found.clicks_24h,
            "leads_24h": found.leads_24h,
            "sales_24h": found.sales_24h,
        },
        "active_partners": found.active_partners,
        "pending_commissions": found.pending_commissions,
        "provisional_leads": found.provisional_leads,
        "refused_calls_24h": found.refused_calls_24h,
        "checklist": [step._asdict() for step in found.checklist],
    }


endpoint = Endpoint(status)
DESCRIPTION = keyed_call(
    "getStatus",
    "Get the health of the key's program and its integration checklist",
    responses=(StatusView,),
)
