"""GET /programs/:id/flags, PATCH .../flags/:flagId: signs of fraud, dismissed or confirmed."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.flags import FlagDecision, FlagView
from presentation.operations import operation
from presentation.view import PageView, page
from storage.management import flag_decisions, flags
from storage.rules.fraud.flag import FlagState
from web.response import ModelResponse

FILTERS = {"state": "open, dismissed or confirmed.", "partner_id": "Only this partner's."}


@operation("The signs of fraud", query=FILTERS)
async def list_flags(call: ApiRequest) -> ModelResponse[PageView[FlagView]]:
    """List the program's flags; `?state=` and `?partner_id=` narrow it."""
    stored = await call.read(
        flags.list_flags,
        queries.paging(call.request),
        state=queries.choice(call.request, "state", FlagState),
        partner_id=queries.number(call.request, "partner_id"),
    )
    return page(stored, FlagView)


@operation("Dismiss or confirm a sign of fraud", body=FlagDecision)
async def decide_flag(call: ApiRequest) -> ModelResponse[FlagView]:
    """Dismiss a flag, or confirm it and reject the commissions that it holds."""
    flag_id = call.path_id("flag_id")
    sent = await call.parse(FlagDecision)
    return ModelResponse(FlagView.of(await call.write(flag_decisions.decide, flag_id, sent.state, reason=sent.reason)))
