"""Signing in to the portal and out of it: by a link that was asked for by e-mail, or one that a manager made."""

from collections.abc import Sequence
from secrets import token_urlsafe
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from storage.access import portal, sessions
from storage.rules import errors
from tracking_api.dashboard import authentication, mail
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices
from tracking_api.dashboard.pages.links import AskPage, LinkPage
from tracking_api.portal.portal_request import SIGN_IN, draw, session_token
from tracking_api.portal.texts import texts_for

ASKED = "svc_portal_asked"  # the cookie of the browser that asked for a link
LINK = f"{authentication.PORTAL}/link"


async def ask(request: Request) -> Response:
    """Send a link, which signs in only in the browser that asked for it. Raises RateLimited."""
    request.state.browser = request.cookies.get(ASKED) or token_urlsafe(32)
    response = await ASK.press(request)
    lifetime = int(portal.ASKED_LASTS.total_seconds())
    response.set_cookie(ASKED, request.state.browser, max_age=lifetime, **authentication.cookie_flags(request))
    return response


async def _send_link(request: Request, email: str) -> None:
    """Send a partner a link to the portal; for an address of no partner, do nothing."""
    token = await storage_of(request).write(portal.ask, email, browser=request.state.browser, at=time_of(request))
    if token is not None:
        await send(request, email, "asked", f"{request.app.state.base_url}{LINK}#{token}")


async def send(request: Request, email: str, name: str, link: str, /, **values: Any) -> bool:
    """Send an e-mail of the catalogue with a link; return whether the SMTP server accepted it."""
    say = texts_for(request)
    parts = {part: say.plain(f"mail.{name}_{part}", **values) for part in ("subject", "text", "link", "end")}
    return await mail.send(request, email, "portal", link=link, language=say.language, parts=parts)


async def _enter(request: Request, form: forms.Form, partners: Sequence[Any], token: str) -> Response:
    """Start the session of the chosen program and open its portal."""
    ids = {str(each.program_id): each.program_id for each in partners}
    chosen = form.text("program_id")
    if chosen not in ids:
        raise errors.ValidationError.of("program_id", "Choose a program")
    about: dict[str, Any] = {"browser": request.cookies.get(ASKED, ""), "client": request.headers.get("user-agent")}
    started = await storage_of(request).write(portal.redeem, token, ids[chosen], **about, at=time_of(request))
    response = notices.redirect(authentication.PORTAL)
    authentication.store_session(request, response, started)
    return response


async def leave(request: Request) -> Response:
    """Sign out: delete the session and its cookie."""
    await forms.read_form(request)
    await storage_of(request).write(sessions.end, portal.session_by(session_token(request)))
    response = notices.redirect(SIGN_IN)
    response.delete_cookie(authentication.cookie_name(request), **authentication.cookie_flags(request))
    return response


ASK = AskPage("portal/templates/sign_in.html", _send_link, draw)
OPEN_LINK = LinkPage(portal.find, "portal/templates/link.html", _enter, draw, "portal/templates/open_link.html")
