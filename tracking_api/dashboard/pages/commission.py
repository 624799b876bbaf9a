"""One commission: its arithmetic, terms and ledger; an owner can approve it before its hold is over, with a reason."""

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import path_id
from presentation.changes import OwnerCommissionChange
from storage.management import commission_decisions, commission_details
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ValidationError
from tracking_api.dashboard.authentication import storage_of
from tracking_api.dashboard.pages import arithmetic, forms, notices, page_context, templates
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import redirect
from tracking_api.dashboard.pages.page_context import PageContext
from web import body

REASON = "override_hold_reason"


async def show_commission(request: Request) -> Response:
    """Show one commission. Raises NotFound."""
    return await _show(request, await page_context.as_member(request), {}, Problems())


async def approve_on_hold(request: Request) -> Response:
    """Approve a commission that is on hold; an error appears beside the reason. Raises NotFound."""
    context = await page_context.as_owner(request)
    form = await forms.read_form(request)
    commission_id = path_id(request, "commission_id")
    try:
        fields = {"status": CommissionStatus.APPROVED, REASON: form.text(REASON)}
        sent = body.parse(OwnerCommissionChange, to_json(fields))
        await page_context.change(
            request,
            context,
            commission_decisions.decide,
            commission_id,
            sent.status,
            override_hold_reason=sent.override_hold_reason,
        )
    except ValidationError as rejection:
        return await _show(request, context, forms.typed(form), Problems.of(rejection))
    approved = ("approved", 1, 0, commission_decisions.millis_of(context.at))
    return notices.leave(redirect(f"{context.program_path}/commissions/{commission_id}"), *approved)


async def _show(request: Request, context: PageContext, typed: dict[str, str], problems: Problems) -> Response:
    commission_id = path_id(request, "commission_id")
    details = await storage_of(request).read(
        commission_details.get_details, context.program.id, commission_id, at=context.at
    )
    return templates.render(
        request,
        "commission.html",
        status=400 if problems else 200,
        context=context,
        each=details.commission,
        details=details,
        arithmetic=arithmetic.of(details),
        meanings=arithmetic.MEANINGS,
        typed=typed,
        problems=problems,
    )
