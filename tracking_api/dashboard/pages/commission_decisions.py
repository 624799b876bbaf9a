"""Commissions decided many at a time: what is final asks first, and an approval can be undone."""

from starlette.requests import Request
from starlette.responses import Response

from presentation import fraud_review
from storage.engine.pagination import MOST
from storage.management import commissions, undone_approvals
from storage.reading import listed_commissions
from storage.rules.commission import MAY_BECOME, CommissionStatus
from storage.rules.errors import ServiceError, ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import forms, lists, notices, page_context, templates
from tracking_api.dashboard.pages.commissions import LIST
from tracking_api.dashboard.pages.forms import Form
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext

DECISIONS = (CommissionStatus.APPROVED, CommissionStatus.PAID, CommissionStatus.REJECTED)
FINAL = {CommissionStatus.PAID: "Mark as paid", CommissionStatus.REJECTED: "Reject"}


async def decide_commissions(request: Request) -> Response:
    """Approve, reject or pay the selected commissions and show how many changed. Each has its own result."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    status, ids = _decision(form), _ticked(form)
    path = f"{context.program_path}/commissions{lists.state(request, LIST).address.link()}"
    if not ids:
        return notices.leave(redirect(path), "nothing-chosen")
    if status in FINAL and form.text("confirmed") != "yes":
        return await _ask(request, context, status, ids, path=path)
    await fraud_review.before(storage_of(request), context.program.id, ids, status, at=context.at)
    results = await storage_of(request).write(
        commissions.decide_each,
        context.program.id,
        ids,
        status,
        actor=context.member.actor,
        at=context.at,
        lane=context.program.id,
    )
    undecided = sum(isinstance(result, ServiceError) for result in results.values())
    decided_at = (
        [undone_approvals.millis_of(context.at)]
        if status == CommissionStatus.APPROVED and undecided < len(results)
        else []
    )
    return notices.leave(redirect(path), status, len(results) - undecided, undecided, *decided_at)


async def undo_approval(request: Request) -> Response:
    """Make the commissions of one approval pending again. Raises ValidationError for one of over an hour ago."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    sent = form.text("decided_at")
    if not notices.MILLIS.fullmatch(sent):
        raise ValidationError("There is no approval to undo.")
    undone = await storage_of(request).write(
        undone_approvals.undo,
        context.program.id,
        millis=int(sent),
        actor=context.member.actor,
        at=context.at,
        lane=context.program.id,
    )
    return notices.leave(redirect(f"{context.program_path}/commissions"), "undone", undone)


async def _ask(
    request: Request, context: PageContext, status: CommissionStatus, ids: list[int], *, path: str
) -> Response:
    """Show how many commissions the decision is about and what they are worth, to confirm it."""
    selected = await storage_of(request).read(listed_commissions.get_each, context.program.id, ids)
    rows = [each for each in selected if status in MAY_BECOME[each.status]]
    return templates.render(
        request,
        "confirm_decision.html",
        context=context,
        rows=rows,
        ids=ids,
        left=len(selected) - len(rows),
        decision=status,
        verb=FINAL[status],
        path=path,
    )


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
