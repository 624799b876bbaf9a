"""Review: the signs of fraud and possible duplicates with their evidence, which managers dismiss or confirm."""

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.changes import decide_flag
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.flags import FLAGS
from storage.management.pending_work import Waiting
from storage.rules.fraud.flag import FlagState
from tracking_api.dashboard.pages.buttons import MANAGERS, Button, FormPage, Question, SelectedRows, elsewhere
from tracking_api.dashboard.pages.lists import ListPage


def _decision(verb: str, meaning: str, *, is_danger: bool) -> Button:
    async def question(call: ApiRequest) -> Question:
        scope, flag_id = ListScope(call.program_id, call.at), call.path_id("flag_id")
        flag = await call.storage.read(get, FLAGS, scope, flag_id)
        held = Waiting(flag.commissions, flag.held_cents)
        return Question(verb, f"{meaning} You cannot undo this.", commissions=held, is_danger=is_danger)

    return Button(decide_flag, {}, "flag-{state}", "/programs/{program_id}/review", question)


FLAG_LIST = ListPage(
    FLAGS,
    "review.html",
    tabs=("state",),
    narrow=lambda address, _: {"state": queries.choice(address, "state", FlagState) or FlagState.OPEN},
)
DECISIONS: dict[str, Button] = {
    FlagState.DISMISSED: _decision(
        "Dismiss and release",
        "The commissions can be approved and paid, unless another sign holds them. This sign is not raised again"
        " for the same evidence.",
        is_danger=False,
    ),
    FlagState.CONFIRMED: _decision(
        "Confirm and reject",
        "The partner does not get this money. What is paid stays paid. A duplicate sale is refunded in the reports.",
        is_danger=True,
    ),
}
DECIDE = FormPage(elsewhere, DECISIONS, by="state", who=MANAGERS)
DECIDE_SELECTED = SelectedRows(DECIDE, "flag_id", "flags")
