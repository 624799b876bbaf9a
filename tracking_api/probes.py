"""Health probes for whoever runs the process."""

from starlette.requests import Request

from storage import migrations
from storage.rules.errors import InternalError
from web.answer import Answer, refused


async def healthz(request: Request) -> Answer:  # noqa: ARG001 - the endpoint's signature
    """Say that the process is up."""
    return Answer({"status": "ok"})


async def readyz(request: Request) -> Answer:
    """Say that storage is reachable and migrated; 503 while it is not."""
    try:
        ready = await request.app.state.storage.read(migrations.is_current)
    except Exception:  # noqa: BLE001 - whatever it is, the answer is "not ready"; the reader logs the cause
        ready = False
    if ready:
        return Answer({"status": "ok"})
    not_ready = InternalError("Storage is not reachable, or its migrations are not applied.")
    answer = refused(not_ready, request.scope["request_id"])
    answer.status = 503
    return answer
