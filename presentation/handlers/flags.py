"""PATCH /programs/:id/flags/:flagId: signs of fraud, dismissed or confirmed."""

from presentation.api_request import ApiRequest
from presentation.changes import FlagDecision
from presentation.operations import operation
from presentation.resources import FlagView
from storage.management import flag_decisions
from web.response import ModelResponse


@operation("Dismiss or confirm a sign of fraud", body=FlagDecision)
async def decide_flag(call: ApiRequest) -> ModelResponse[FlagView]:
    """Dismiss a flag, or confirm it and reject the commissions that it holds."""
    flag_id = call.path_id("flag_id")
    sent = await call.parse(FlagDecision)
    return ModelResponse(FlagView.of(await call.write(flag_decisions.decide, flag_id, sent.state, reason=sent.reason)))
