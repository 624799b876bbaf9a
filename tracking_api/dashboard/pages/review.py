"""Review: the signs of fraud and possible duplicates with their evidence, which managers dismiss or confirm."""

from collections.abc import Sequence

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.changes import decide_flag
from storage.access.workspaces import MANAGERS
from storage.lists.flags import FLAGS
from storage.management import pending_work
from storage.rules.fraud.flag import FlagState
from tracking_api.dashboard.pages.buttons import Button, FormPage, Question, SelectedRows, elsewhere
from tracking_api.dashboard.pages.lists import ListPage


def _decision(verb: str, meaning: str, *, is_danger: bool) -> Button:
    async def question(calls: Sequence[ApiRequest]) -> Question:
        flag_ids = [call.path_id("flag_id") for call in calls]
        held = await calls[0].read(pending_work.count_held, flag_ids)
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
DECIDE = FormPage(elsewhere, DECISIONS, by="state", roles=MANAGERS)
DECIDE_SELECTED = SelectedRows(DECIDE, "flag_id", "flags")
