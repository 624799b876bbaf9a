"""Review: the signs of fraud and possible duplicates with their evidence, which managers dismiss or confirm."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

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
from tracking_api.dashboard.pages.ranges import FilterValues


def _decision(verb: str, meaning: str, *, is_danger: bool) -> Button:
    async def question(call: ApiRequest) -> Question:
        scope, flag_id = ListScope(call.program_id, call.at), call.path_id("flag_id")
        flag = await call.storage.read(get, FLAGS, scope, flag_id)
        held = Waiting(flag.commissions, flag.held_cents)
        return Question(verb, f"{meaning} You cannot undo this.", commissions=held, is_danger=is_danger)

    return Button(decide_flag, {}, "flag-{state}", "/programs/{program_id}/review", question)


def _by_state(address: FilterValues, _: datetime) -> Mapping[str, Any]:
    """Return the filter of the tab: without a state, what is open."""
    return {"state": queries.choice(address, "state", FlagState) or FlagState.OPEN}


FLAG_LIST = ListPage(FLAGS, "review.html", tabs=("state",), narrow=_by_state)
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
