"""Review: the signs of fraud with their evidence, which owners dismiss or confirm."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation import queries
from presentation.api_request import path_id
from storage.lists.flags import FLAGS
from storage.management import flag_decisions
from storage.rules.errors import ValidationError
from storage.rules.fraud.flag import FlagState
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import confirmation, forms, notices, page_context
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.filters import FilterValues
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page import redirect

LONGEST_REASON = 512
DECISIONS = {FlagState.DISMISSED: "flag-dismissed", FlagState.CONFIRMED: "flag-confirmed"}
VERBS = {FlagState.DISMISSED: "Dismiss and release", FlagState.CONFIRMED: "Confirm and reject"}
MEANINGS = {
    FlagState.DISMISSED: "The commissions can be approved and paid, unless another sign of fraud holds them. This sign"
    " is not raised again for the same evidence.",
    FlagState.CONFIRMED: "The partner does not get this money. What is paid stays paid.",
}


def _by_state(address: FilterValues, _: datetime) -> Mapping[str, Any]:
    """Return the filter of the tab: without a state, what is open."""
    return {"state": queries.choice(address, "state", FlagState) or FlagState.OPEN}


FLAG_LIST = ListPage(FLAGS, "review.html", tabs=("state",), narrow=_by_state)


async def decide_flag(request: Request) -> Response:
    """Dismiss a flag, or confirm it. Raises NotFound, ValidationError for another decision."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    state = {each.value: each for each in DECISIONS}.get(form.text("state"))
    reason = form.text("reason")
    if state is None or len(reason) > LONGEST_REASON:
        raise ValidationError("Dismiss or confirm the sign of fraud, with a reason of at most 512 characters.")
    flag_id, path = path_id(request, "flag_id"), f"{context.program_path}/review"
    if not confirmation.is_given(form):
        held = await storage_of(request).read(flag_decisions.count_held, context.program.id, flag_id, at=context.at)
        meaning, is_danger = f"{MEANINGS[state]} You cannot undo this.", state == FlagState.CONFIRMED
        question = Question(VERBS[state], meaning, path, commissions=held, is_danger=is_danger)
        return confirmation.ask(request, form, question, context=context)
    await page_context.change(request, context, flag_decisions.decide, flag_id, state, reason=reason or None)
    return notices.leave(redirect(path), DECISIONS[state])
