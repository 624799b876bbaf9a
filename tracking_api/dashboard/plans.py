"""The page of plans, which reads as sentences: approve, decline or revert one; send the one that a link prepares."""

from typing import Any

from pydantic import NaiveDatetime

from presentation import plans
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.plan_steps import PlanStep
from storage.access.workspaces import DECIDERS
from storage.lists.plans import PLANS, Plan
from storage.management import plans as stored
from storage.rules.errors import LinkExpired
from tracking_api.dashboard.pages.buttons import Button, FormPage, elsewhere
from tracking_api.dashboard.pages.lists import ListPage, ListState
from tracking_api.dashboard.pages.page_context import PageContext
from tracking_api.dashboard.pages.records import written
from tracking_api.dashboard.pages.text import CLOCK
from web.body import Body

DRAFT = "draft"


def _opened(context: Any, sealed: str) -> tuple[list[PlanStep], str]:
    """Return the steps and the reason of a link for this member. Raises LinkExpired for any other."""
    found = context.sealer.open_until(context.at, plans.PREPARED, sealed)
    if not found or found[0] != context.program_id or found[1] not in {"", context.actor.name}:
        raise LinkExpired(hint="Ask the assistant for a new one.")
    return [PlanStep(*each) for each in found[2]], found[3]


@operation(notice="plan-sent")
async def send_prepared(call: ApiRequest) -> Plan:
    """Store the plan that a link prepared."""
    steps, reason = _opened(call, call.path_name(DRAFT))
    about: Any = {"content": await plans.content_of(call, steps), "reason": reason}
    return await call.write(stored.propose, **about, expires_at=call.at + stored.LASTS)


class LocalTime(Body):
    """A time on the clock of the pages."""

    at: NaiveDatetime


@operation(*plans.REFUSED, notice="plan-scheduled")
async def schedule_plan(call: ApiRequest, sent: LocalTime) -> Plan:
    """Approve a plan, which is applied at a time."""
    at = sent.at.replace(tzinfo=CLOCK.get().zone)
    return await plans.apply_plan.perform(call, plans.PlanApproval(at=at))


async def _prepared(context: PageContext, _: ListState) -> dict[str, Any]:
    sealed = context.request.query_params.get(DRAFT)
    if not sealed:
        return {"prepared": None}
    steps, reason = _opened(context, sealed)
    return {"sealed": sealed, "prepared": {**await plans.content_of(context, steps), "reason": reason}}


PLAN_LIST = ListPage(PLANS, "plans.html", constants={"written": written}, values=_prepared)
SEND = FormPage(elsewhere, Button(send_prepared), roles=DECIDERS)
ACTIONS = {
    "apply": plans.apply_plan,
    "schedule": schedule_plan,
    "decline": plans.decline_plan,
    "revert": plans.revert_plan,
}
BUTTONS = {name: Button(action, then="/programs/{program_id}/plans") for name, action in ACTIONS.items()}
DECIDE = FormPage(elsewhere, BUTTONS, roles=DECIDERS)
