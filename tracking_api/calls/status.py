"""GET /api/v1/cli/status: the health of a program, for its program key."""

from typing import Literal

from starlette.types import Receive

from presentation.guides import cookie_domain
from presentation.view import View, with_fields_of
from storage.reports import program_status
from storage.reports.checklist import ChecklistStep
from storage.rules.errors import ApiKeyRotationRequired, InvalidKey
from storage.tracking.received_calls import reject
from tracking_api.calls.call import Endpoint, Recording, TrackingCaller
from tracking_api.calls.fields import FlaggableView, described
from web.body import Body
from web.response import JsonResponse, ModelResponse


@with_fields_of(ChecklistStep)
class ChecklistStepView(View):
    """One step of the integration; `next_action` says what to do if it is not done."""

    step: Literal["tracker_installed", "test_click", "test_lead", "test_sale", "live_click", "live_lead", "live_sale"]


@with_fields_of(program_status.ProgramHealth, checklist=list[ChecklistStepView])
class StatusDataView(View):
    """A program's health. Only a sandbox has `sandbox_of`, the id of its live program.

    Only a program with a connected payment account has `latest_payments`. `cookie_domain` is where the tracker sets its
    cookie.
    """

    cookie_domain: str


class StatusView(FlaggableView):
    """The health of the key's program."""

    data: StatusDataView


class _Status(Endpoint[Body]):
    name, headers = "status", ()

    def __init__(self) -> None:
        """Take no body, so parse none."""

    async def serve(self, caller: TrackingCaller, receive: Receive) -> JsonResponse:  # noqa: ARG002 - it has no body
        if caller.key is None:
            raise InvalidKey
        services, key_hash = caller.services, caller.key.key_hash
        await services.limits.hit("keyed", caller.address, key_hash)
        try:
            key, health = await services.storage.read(
                program_status.get_status, key_hash, at=caller.at, base_url=services.settings.base_url
            )
        except (InvalidKey, ApiKeyRotationRequired) as error:
            return await self.store(Recording(reject, error, dict, caller.key), caller, None)
        absent = {name for name in ("sandbox_of", "latest_payments") if getattr(health, name) is None}
        data = {name: value for name, value in health._asdict().items() if name not in absent}
        data["cookie_domain"] = cookie_domain(health.domain)
        response: JsonResponse = ModelResponse(StatusView(success=True, data=StatusDataView.of(data)))
        caller.signal(key, response)
        return response


endpoint = _Status()
DESCRIPTION = described("status", StatusView)
