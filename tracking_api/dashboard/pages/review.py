"""Review: the signs of fraud with their evidence, which owners dismiss or confirm."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from presentation.api_request import ApiRequest
from presentation.changes import decide_flag
from storage.lists.flags import FLAGS
from storage.management import flag_decisions
from storage.rules.fraud.flag import FlagState
from tracking_api.dashboard.pages import buttons, confirmation, forms, page_context
from tracking_api.dashboard.pages.buttons import Button
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.lists import ListPage


def _button(verb: str, meaning: str, *, is_danger: bool) -> Button[ApiRequest]:
    question = Question(verb, f"{meaning} You cannot undo this.", is_danger=is_danger)
    return Button(decide_flag, {}, "flag-{state}", "/programs/{program_id}/review", question)


BUTTONS: dict[str, Button[ApiRequest]] = {
    FlagState.DISMISSED: _button(
        "Dismiss and release",
        "The commissions can be approved and paid, unless another sign of fraud holds them. This sign is not raised"
        " again for the same evidence.",
        is_danger=False,
    ),
    FlagState.CONFIRMED: _button(
        "Confirm and reject",
        "The partner does not get this money. What is paid stays paid.",
        is_danger=True,
    ),
}


def _by_state(address: FilterValues, _: datetime) -> Mapping[str, Any]:
    """Return the filter of the tab: without a state, what is open."""
    return {"state": queries.choice(address, "state", FlagState) or FlagState.OPEN}


FLAG_LIST = ListPage(FLAGS, "review.html", tabs=("state",), narrow=_by_state)


async def decide(request: Request) -> Response:
    """Ask about the commissions that a flag holds, then dismiss or confirm it. Raises NotFound."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    button = buttons.named(BUTTONS, form, "state")
    if button.question and not confirmation.is_given(form):
        held = await context.read(flag_decisions.count_held, context.path_id("flag_id"), at=context.at)
        button = button._replace(question=button.question._replace(commissions=held))
    return await buttons.press(button, context, context=context)
