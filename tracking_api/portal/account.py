"""A partner's account in the portal: where they are signed in."""

from starlette.responses import Response

from presentation.operations import operation
from storage.access import portal
from storage.rules.errors import NotFound
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.portal.portal_request import PortalRequest, as_partner, session_token


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
    return outcome.page(call, "portal/templates/account.html", sessions=sessions)


PAGE = FormPage(_page, {"end": Button(end_portal_session)}, viewer=as_partner)
