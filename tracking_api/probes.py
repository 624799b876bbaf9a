"""Health probes for operators."""

from typing import Literal

from starlette.requests import Request

from presentation.operations import operation
from presentation.view import View
from storage import migrations
from storage.engine import read_queue
from storage.engine.failures import RETRY_SECONDS, unavailable
from storage.rules.errors import Overloaded, ServiceError, StorageUnavailable
from web.build import VERSION
from web.response import ModelResponse


class HealthyView(View):
    """The probe succeeded."""

    status: Literal["ok"]


class ReadyView(HealthyView):
    """The probe succeeded; `unavailable` names what does not respond and is not needed for the rest.

    That is a worker of a cluster, whose programs get 503, or the read replica.
    """

    unavailable: list[str] | None = None


@operation(tag="probes")
async def get_health(request: Request) -> ModelResponse[HealthyView]:  # noqa: ARG001 - the endpoint's signature
    """Report that the process is up, and in a header which version it runs."""
    return ModelResponse(HealthyView(status="ok"), {"X-Service-Version": VERSION})


@operation(tag="probes")
async def get_readiness(request: Request) -> ReadyView:
    """Report that the database can be read and written, and its migrations are applied.

    A process that is about to stop is not ready.
    """
    if getattr(request.state, "is_stopping", False):
        raise Overloaded("This process is about to stop.", retry_after_seconds=RETRY_SECONDS)
    storage, at = request.app.state.storage, request.app.state.clock()
    try:
        ready = await storage.read(migrations.is_usable)
        if ready:
            await storage.write(read_queue.probe, at=at)
    except ServiceError:
        raise
    except Exception as error:
        raise unavailable(error) from error
    if not (ready and storage.is_available):
        message = "The database is not ready, or its migrations are not applied."
        raise StorageUnavailable(message, retry_after_seconds=RETRY_SECONDS)
    lacking = {"unavailable": storage.lacking} if storage.lacking else {}
    return ReadyView(status="ok", **lacking)
