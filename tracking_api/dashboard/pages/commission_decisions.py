"""Commissions decided many at a time: what is final asks first, and an approval can be undone."""

import re
from datetime import UTC, datetime

from starlette.requests import Request
from starlette.responses import Response

from storage.lists import find as engine
from storage.lists.commissions import COMMISSIONS, Commission
from storage.lists.declaration import MOST
from storage.management import commission_decisions as decisions
from storage.management.commission_decisions import MOST_TOGETHER
from storage.management.pending_work import Waiting
from storage.rules.commission import MAY_BECOME, CommissionStatus
from storage.rules.errors import ServiceError, ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import confirmation, forms, notices, page_context
from tracking_api.dashboard.pages.commissions import COMMISSION_LIST
from tracking_api.dashboard.pages.confirmation import Question
from tracking_api.dashboard.pages.forms import Form
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext

DECISIONS = (CommissionStatus.APPROVED, CommissionStatus.PAID, CommissionStatus.REJECTED)
VERBS = {
    CommissionStatus.APPROVED: "Approve",
    CommissionStatus.PAID: "Mark as paid",
    CommissionStatus.REJECTED: "Reject",
}
MEANINGS = {
    CommissionStatus.APPROVED: "You can undo this for an hour, as long as they are not paid.",
    CommissionStatus.PAID: "Mark them as paid after you have paid the partners. The ledger then has a payout for each."
    " You cannot undo this.",
    CommissionStatus.REJECTED: "Their partners do not get this money. You cannot undo this.",
}
LEFT = " {} of those that you selected stay as they are: their status does not allow it."
READY_AT = "ready_at"
AT_ONCE = 50
_MILLIS = re.compile(r"[0-9]{13}", re.ASCII)


async def decide_commissions(request: Request) -> Response:
    """Approve, reject or pay the selected commissions and show how many changed. Each has its own result."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    status, ids = _decision(form), _ticked(form)
    path = _list(request, context)
    if not ids:
        return notices.leave(redirect(path), "nothing-chosen")
    if status == CommissionStatus.APPROVED or confirmation.is_given(form):
        return await _decide(request, context, status, ids, path)
    selected = await storage_of(request).read(engine.rows, COMMISSIONS, context.scope, ids)
    rows = [each for each in selected if status in MAY_BECOME[each.status]]
    if not rows:
        return notices.leave(redirect(path), "nothing-to-decide")
    left = len(selected) - len(rows)
    question = _question(status, rows, path)._replace(text=MEANINGS[status] + (LEFT.format(left) if left else ""))
    return confirmation.ask(request, form, question, context=context)


async def approve_all(request: Request) -> Response:
    """Approve all commissions that are ready and match the list's filter: first ask, then those that were asked about.

    These are the oldest 1,000 at most. Raises ValidationError for a list of another status.
    """
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    path, query = _list(request, context), COMMISSION_LIST.state(request).query
    if "ready_at" not in query.filters:
        raise ValidationError("Open the list of commissions that are ready to approve.")
    if _MILLIS.fullmatch(form.text(READY_AT)):
        asked_at = datetime.fromtimestamp(int(form.text(READY_AT)) / 1000, UTC)
        query = query._replace(filters={**query.filters, READY_AT: min(asked_at, context.at)})
    read = storage_of(request).read
    ids = await read(engine.list_ids, COMMISSIONS, context.scope, query, limit=MOST_TOGETHER)
    if not ids:
        return notices.leave(redirect(path), "nothing-to-decide")
    if confirmation.is_given(form):
        return await _decide(request, context, CommissionStatus.APPROVED, ids, path)
    rows = await read(engine.rows, COMMISSIONS, context.scope, ids[::-1])
    added = (READY_AT, str(decisions.millis_of(context.at)))
    return confirmation.ask(
        request, Form({}), _question(CommissionStatus.APPROVED, rows, path), added=added, context=context
    )


async def undo_approval(request: Request) -> Response:
    """Make the commissions of one approval pending again. Raises ValidationError for one of over an hour ago."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    sent = form.text("decided_at")
    if not _MILLIS.fullmatch(sent):
        raise ValidationError("There is no approval to undo.")
    undone = await page_context.change(request, context, decisions.undo_approvals, millis=int(sent))
    return notices.leave(redirect(f"{context.program_path}/commissions"), "undone", undone)


async def _decide(
    request: Request, context: PageContext, status: CommissionStatus, ids: list[int], path: str
) -> Response:
    """Decide on commissions, 50 in each transaction, so that no other call waits for all of them."""
    results: dict[int, Commission | ServiceError] = {}
    for some in (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE)):
        results |= await page_context.change(request, context, decisions.decide_each, some, status)
    undecided = sum(isinstance(result, ServiceError) for result in results.values())
    done = len(results) - undecided
    decided_at = [decisions.millis_of(context.at)] if status == CommissionStatus.APPROVED and done else []
    return notices.leave(redirect(path), status, done, undecided, *decided_at)


def _question(status: CommissionStatus, rows: list[Commission], path: str) -> Question:
    worth = Waiting(len(rows), sum(each.net_cents for each in rows))
    is_danger = status == CommissionStatus.REJECTED
    return Question(VERBS[status], MEANINGS[status], path, commissions=worth, rows=rows, is_danger=is_danger)


def _list(request: Request, context: PageContext) -> str:
    return f"{context.program_path}/commissions{COMMISSION_LIST.state(request).address.link()}"


def _decision(form: Form) -> CommissionStatus:
    decision = {each.value: each for each in DECISIONS}.get(form.text("decision"))
    if decision is None:
        raise ValidationError("A commission is approved, rejected or marked as paid here.")
    return decision


def _ticked(form: Form) -> list[int]:
    sent = form.each("id")
    if len(sent) > MOST or not all(each.isascii() and each.isdigit() and len(each) < len(str(2**53)) for each in sent):
        raise ValidationError("These are not commissions of this list.")
    return [int(each) for each in sent]
