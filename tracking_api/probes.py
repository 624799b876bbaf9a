"""Health probes for whoever runs the process."""

from typing import Literal

from starlette.requests import Request

from presentation.operations import Description
from presentation.view import View
from storage import migrations
from storage.rules.errors import InternalError
from web.response import JsonResponse, error_response


class HealthyView(View):
    """All is well."""

    status: Literal["ok"]


HEALTHZ = Description("getHealth", "The process is up", {200: (HealthyView,)}, tag="probes")
READYZ = Description(
    "getReadiness",
    "Storage is reachable and its migrations are applied",
    {200: (HealthyView,)},
    (InternalError,),
    statuses={InternalError: 503},
    tag="probes",
)


async def healthz(request: Request) -> JsonResponse:  # noqa: ARG001 - the endpoint's signature
    """Say that the process is up."""
    return JsonResponse({"status": "ok"})


async def readyz(request: Request) -> JsonResponse:
    """Say that storage is reachable and migrated; 503 while it is not."""
    try:
        ready = await request.app.state.storage.read(migrations.is_current)
    except Exception:  # noqa: BLE001 - whatever it is, the answer is "not ready"; the reader logs the cause
        ready = False
    if ready:
        return JsonResponse({"status": "ok"})
    not_ready = InternalError("Storage is not reachable, or its migrations are not applied.")
    answer = error_response(not_ready, request.scope["request_id"])
    answer.status = 503
    return answer
