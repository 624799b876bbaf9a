"""Commissions: first those that are ready to approve; filtered, decided many at a time, and exported as CSV."""

from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from presentation import fraud_review, queries
from storage.engine.pagination import MOST
from storage.management import commissions
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ServiceError, ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import csv_export, filters, forms, notices, page_context, templates
from tracking_api.dashboard.pages.forms import Form
from tracking_api.dashboard.pages.page import redirect

READY, ALL = "ready", "all"
DECISIONS = (CommissionStatus.APPROVED, CommissionStatus.PAID, CommissionStatus.REJECTED)


async def list_commissions(request: Request) -> Response:
    """List the commissions that are ready to approve, or those of another status; a partner narrows it."""
    context = await page_context.as_member(request)
    chosen = filters.chosen(request, "status", "partner_id")
    page = await storage_of(request).read(
        commissions.list_commissions,
        context.program.id,
        queries.paging(request),
        **_filters(request, context.at),
    )
    statuses = list(CommissionStatus)
    return templates.render(request, "commissions.html", context=context, page=page, chosen=chosen, statuses=statuses)


async def decide_commissions(request: Request) -> Response:
    """Approve, reject or pay the selected commissions and show how many changed. Each has its own result."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    status, ids = _decision(form), _ticked(form)
    back = redirect(f"{context.program_path}/commissions{filters.chosen(request, 'status', 'partner_id').link()}")
    if not ids:
        return notices.leave(back, "nothing-chosen")
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
    return notices.leave(back, status, len(results) - undecided, undecided)


async def export_commissions(request: Request) -> Response:
    """Return the commissions of the filtered list as a CSV file."""
    context = await page_context.as_member(request)
    rows = csv_export.rows(storage_of(request), context.program.id, **_filters(request, context.at))
    name = f"commissions-{context.program.id}-{context.at:%Y-%m-%d}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(rows, media_type="text/csv; charset=utf-8", headers=headers)


def _filters(request: Request, at: datetime) -> dict[str, Any]:
    """Return the filters of the list. Raises ValidationError."""
    partner_id = filters.number(request, "partner_id")
    shown = request.query_params.get("status") or READY
    if shown == READY:
        return {"partner_id": partner_id, "ready_at": at}
    status = None if shown == ALL else filters.choice(request, "status", CommissionStatus)
    return {"partner_id": partner_id, "status": status}


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
