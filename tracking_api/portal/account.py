"""A partner's account in the portal: how they are paid, what they are mailed, and where they are signed in."""

from typing import Any

from presentation.operations import operation
from storage.access import portal, sessions
from storage.management import payout_methods, portal_notices
from storage.rules import keys
from storage.rules.errors import NotFound
from storage.rules.payout import MethodKind
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, drawn
from tracking_api.dashboard.partner_portal import change_payout_method
from tracking_api.portal.portal_request import PortalRequest, as_partner, session_token
from tracking_api.portal.texts import texts_for
from web.body import Body


@operation(NotFound, notice="portal-session-ended")
async def end_portal_session(call: PortalRequest) -> None:
    """End one of the partner's sessions."""
    await call.storage.write_in(call.program_id, sessions.end_one, _sessions_of(call), call.path_name("session"))


def _sessions_of(call: PortalRequest) -> sessions.Sessions:
    return portal.sessions_of(call.program_id, call.partner.partner_id)


class WantedNotices(Body):
    """The e-mails that the partner wants."""

    notices: list[portal_notices.NoticeKind]


@operation(notice="portal-notices-changed")
async def change_notices(call: PortalRequest, sent: WantedNotices) -> None:
    """Turn the partner's e-mails on or off."""
    wanted = {str(kind): kind in sent.notices for kind in portal_notices.NoticeKind}
    write, program_id = call.storage.write_in, call.program_id
    await write(program_id, portal_notices.change, program_id, call.partner.partner_id, at=call.at, **wanted)


async def _page(call: PortalRequest, _: FormOutcome) -> dict[str, Any]:
    token_hash = keys.digest(session_token(call.request))
    method = await call.read(payout_methods.find_method, call.partner.partner_id)
    say = texts_for(call.request)
    return {
        "sessions": await call.storage.read(sessions.list_open, _sessions_of(call), token_hash, at=call.at),
        "method": method,
        "kinds": [(str(kind), say(f"method.{kind}")) for kind in MethodKind],
        "is_held": method is not None and method.held_until > call.at,
        "notices": [(str(kind), say(f"notices.{kind}")) for kind in portal_notices.NoticeKind],
        "wanted": await call.read(portal_notices.list_wanted, call.partner.partner_id),
    }


PAGE = FormPage(
    drawn("portal/templates/account.html", _page),
    {
        "method": Button(change_payout_method, notice="portal-method-changed"),
        "notices": Button(change_notices),
        "end": Button(end_portal_session),
    },
    viewer=as_partner,
)
