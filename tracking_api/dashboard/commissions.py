"""Commissions, decided many at a time by PATCH .../commissions and the page, and the review of what holds them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation import changes, queries
from presentation.api_request import ApiRequest
from presentation.operations import operation
from presentation.view import View, view_of, viewed, with_fields
from storage.access.workspaces import DECIDERS, MANAGERS
from storage.lists import find as engine
from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.flags import FLAGS
from storage.management import commission_decisions as decisions
from storage.rules.commission import MAY_BECOME, CommissionStatus
from storage.rules.errors import ServiceError, ValidationError
from storage.rules.fraud.flag import FlagState
from tracking_api.dashboard.pages import buttons, forms, notices, page_context, ranges
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormPage, Question, elsewhere
from tracking_api.dashboard.pages.lists import ListPage
from tracking_api.dashboard.pages.page_context import PageContext
from web.errors import ErrorObject, error_body

DECISIONS = {status: QUESTIONS[f"commissions-{status}"] for status in ("approved", "rejected")}
LEFT = " {} of those that you selected stay as they are: their status does not allow it."
READY_AT = "ready_at"


class UndecidedView(View):
    """A commission that did not change."""

    id: int
    error: ErrorObject


@partial(with_fields, fields={"data": (viewed(list[Commission | UndecidedView]), ...)})
class DecidedView(View):
    """One result for each commission, by id."""


@operation()
async def decide_commissions(call: ApiRequest, sent: changes.CommissionChanges) -> DecidedView:
    """Approve, reject or pay several commissions, each with its own result: a commission or an error."""
    shown = [
        UndecidedView(id=commission_id, error=ErrorObject(**error_body(result, "")["error"]))
        if isinstance(result, ServiceError)
        else view_of(Commission).of(result)
        for commission_id, result in (await call.write(decisions.decide_each, sent.ids, sent.status)).items()
    ]
    return DecidedView.of({"data": shown})


def _by_status(address: ranges.FilterValues, at: datetime) -> Mapping[str, Any]:
    """Return the filters of the tab: without a status, what is ready to approve."""
    if not address["status"]:
        return {READY_AT: at}
    return {} if address["status"] == "all" else {"status": queries.choice(address, "status", CommissionStatus)}


COMMISSION_LIST = ListPage(
    COMMISSIONS,
    "commissions.html",
    tabs=("status", READY_AT),
    narrow=_by_status,
    constants={"statuses": list(CommissionStatus), "most": decisions.MOST_TOGETHER},
    sort="waits",
    days=("approved", "paid"),
)


async def decide_selected(request: Request) -> Response:
    """Approve or reject the selected commissions. Each has its own result."""
    context, form, path = await _sent(request)
    if not form.each("ids"):
        return notices.redirect(path, "nothing-chosen")
    sent = forms.parsed(form, changes.CommissionChanges)
    if sent.status not in DECISIONS:
        raise ValidationError("A commission is approved or rejected here. Payouts pay it.")
    return await _decide(context, form, sent.status, sent.ids, path, asks=sent.status != CommissionStatus.APPROVED)


async def approve_all(request: Request) -> Response:
    """Approve the oldest 1,000 that are ready and match the list's filter, after asking. Raises ValidationError."""
    context, form, path = await _sent(request)
    query = COMMISSION_LIST.state(request).query
    now = decisions.millis_of(context.at)
    if query.filters[READY_AT] is None:
        raise ValidationError("Open the list of commissions that are ready to approve.")
    ready_at = datetime.fromtimestamp(min(_millis(form, READY_AT) or now, now) / 1000, UTC)
    query = query._replace(filters={**query.filters, READY_AT: ready_at})
    ids = await context.storage.read(engine.list_ids, COMMISSIONS, context.scope, query, limit=decisions.MOST_TOGETHER)
    sent = form if buttons.is_confirmed(form) else forms.Form({READY_AT: [str(now)]}, [])
    return await _decide(context, sent, CommissionStatus.APPROVED, ids, path)


async def undo_approval(request: Request) -> Response:
    """Make the commissions of one approval pending again. Raises ValidationError for one of over an hour ago."""
    context, form, path = await _sent(request)
    undone = await context.write(decisions.undo_approvals, millis=_millis(form, "decided_at") or 0)
    return notices.redirect(path, "undone", undone)


async def _sent(request: Request) -> tuple[PageContext, forms.Form, str]:
    """Return who decides, their form, and the list that they are on."""
    context = await page_context.as_member(request, DECIDERS)
    path = f"{context.program_path}/commissions{COMMISSION_LIST.state(request).address.link()}"
    return context, await forms.read_form(request), path


def _millis(form: forms.Form, name: str) -> int | None:
    return queries.number(forms.typed(form), name, most=10**13 - 1)


async def _decide(
    context: PageContext, form: forms.Form, status: CommissionStatus, ids: list[int], path: str, *, asks: bool = True
) -> Response:
    """Decide on commissions, all in one transaction, and show how many changed; some decisions ask first."""
    if asks and not buttons.is_confirmed(form):
        selected = await context.storage.read(engine.rows, COMMISSIONS, context.scope, ids)
        rows = [each for each in selected if status in MAY_BECOME[each.status]]
        if not rows:
            return notices.redirect(path, "nothing-to-decide")
        question = DECISIONS[status]
        left = LEFT.format(len(selected) - len(rows)) if len(rows) < len(selected) else ""
        worth = decisions.Waiting(len(rows), sum(each.net_cents for each in rows))
        question = question._replace(text=question.text + left, commissions=worth, rows=rows)
        return await buttons.ask(context, form, question, path)
    results = await context.write(decisions.decide_each, ids, status)
    undecided = sum(isinstance(each, ServiceError) for each in results.values())
    done = len(results) - undecided
    decided_at = [decisions.millis_of(context.at)] if status == CommissionStatus.APPROVED and done else []
    return notices.redirect(path, status if results else "nothing-to-decide", done, undecided, *decided_at)


async def _about_flags(calls: Sequence[ApiRequest]) -> Question:
    """Ask with what the flags hold."""
    held = await calls[0].read(decisions.count_held, [call.path_id("flag_id") for call in calls])
    return QUESTIONS[f"flag-{calls[0].named.get('state')}"]._replace(commissions=held)


FLAG_LIST = ListPage(
    FLAGS,
    "review.html",
    tabs=("state",),
    narrow=lambda address, _: {"state": queries.choice(address, "state", FlagState) or FlagState.OPEN},
)
_FLAG = Button(changes.decide_flag, {}, "flag-{state}", "/programs/{program_id}/review", _about_flags)
FLAG_DECISIONS: dict[str, Button] = dict.fromkeys((FlagState.DISMISSED, FlagState.CONFIRMED), _FLAG)
DECIDE_FLAG = FormPage(elsewhere, FLAG_DECISIONS, by="state", roles=MANAGERS, row="flag_id", said="flags")
