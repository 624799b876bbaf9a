"""Review: the signs of fraud with their evidence, which owners dismiss or confirm."""

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from storage.management import flag_decisions
from storage.reading import listed_flags
from storage.rules.errors import ValidationError
from storage.rules.fraud.flag import FlagState
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import filters, forms, lists, notices, page_context, templates
from tracking_api.dashboard.pages.lists import List
from tracking_api.dashboard.pages.page import redirect

LONGEST_REASON = 512
DECISIONS = {FlagState.DISMISSED: "flag-dismissed", FlagState.CONFIRMED: "flag-confirmed"}


LIST = List("Review", (), search="Partner or customer key", kept=("partner_id",), tabs=("state",))


async def list_flags(request: Request) -> Response:
    """List the open flags, or those of another state."""
    context = await page_context.as_member(request)
    state = lists.state(request, LIST)
    listed = await storage_of(request).read(
        listed_flags.read,
        context.program.id,
        state.query,
        state=filters.choice(request, "state", FlagState) or FlagState.OPEN,
        partner_id=filters.number(request, "partner_id"),
        search=state.search,
        span=state.span,
    )
    return templates.render(request, "review.html", context=context, list=state.holding(listed))


async def decide_flag(request: Request) -> Response:
    """Dismiss a flag, or confirm it. Raises NotFound, ValidationError for another decision."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    state = {each.value: each for each in DECISIONS}.get(form.text("state"))
    reason = form.text("reason")
    if state is None or len(reason) > LONGEST_REASON:
        raise ValidationError("Dismiss or confirm the sign of fraud, with a reason of at most 512 characters.")
    await storage_of(request).write(
        flag_decisions.decide,
        context.program.id,
        path_id(request, "flag_id"),
        state,
        actor=context.member.actor,
        at=context.at,
        reason=reason or None,
        lane=context.program.id,
    )
    return notices.leave(redirect(f"{context.program_path}/review"), DECISIONS[state])
