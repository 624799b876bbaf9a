"""A partner's account in the portal: how they are paid, and where they are signed in."""

from contextlib import suppress

from starlette.responses import Response

from presentation.operations import operation
from storage.access import portal
from storage.management import payout_methods
from storage.rules.errors import NotFound
from storage.rules.payout import MethodKind
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.dashboard.payouts import change_payout_method
from tracking_api.portal.portal_request import PortalRequest, as_partner, session_token
from tracking_api.portal.texts import texts_for


@operation(NotFound, notice="portal-session-ended")
async def end_portal_session(call: PortalRequest) -> None:
    """End one of the partner's sessions."""
    write = call.storage.write_in
    await write(
        call.program_id, portal.end_one, call.program_id, call.partner.partner_id, call.named.get("session", "")
    )


async def _page(call: PortalRequest, outcome: FormOutcome) -> Response:
    about = (call.partner.partner_id, session_token(call.request))
    sessions = await call.read(portal.list_open, *about, at=call.at)
    method = None
    with suppress(NotFound):  # they have none yet
        method = await call.read(payout_methods.get_method, call.partner.partner_id)
    is_held = method is not None and method.held_until > call.at
    kinds = [(str(kind), texts_for(call.request)(f"method.{kind}")) for kind in MethodKind]
    return outcome.page(
        call, "portal/templates/account.html", sessions=sessions, method=method, kinds=kinds, is_held=is_held
    )


PAGE = FormPage(
    _page,
    {"method": Button(change_payout_method, notice="portal-method-changed"), "end": Button(end_portal_session)},
    viewer=as_partner,
)
