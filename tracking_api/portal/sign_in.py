"""Signing in to the portal and out of it: by a link that was asked for by e-mail, or one that a manager made."""

from collections.abc import Sequence
from secrets import token_urlsafe
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from storage.access import portal, sessions
from storage.access.portal import ASKED_LASTS
from storage.rules import errors
from tracking_api.dashboard import authentication, mail
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices
from tracking_api.dashboard.pages.links import Forgotten, LinkPage
from tracking_api.portal.portal_request import SIGN_IN, cookie_about, draw, session_token
from tracking_api.portal.texts import texts_for
from web.limits import network_of

ASKED = "svc_portal_asked"  # the cookie of the browser that asked for a link
LINK = f"{authentication.PORTAL}/link"


async def show_sign_in(request: Request, **shown: Any) -> Response:
    """Show the form, or that a manager makes the links where the server sends no e-mail."""
    return draw(
        request, "portal/templates/sign_in.html", **{"sent_to": None, "sends_mail": mail.is_on(request)} | shown
    )


async def ask(request: Request) -> Response:
    """Send a link; the response is the same, and as fast, whether there is such a partner. Raises RateLimited."""
    form = await forms.read_open_form(request, "the page")
    await request.app.state.limits.hit("reset", network_of(request))
    try:
        email = forms.parsed(form, Forgotten).email
    except errors.ValidationError as rejection:
        return await show_sign_in(request, problems=forms.problems_of(rejection), typed=forms.typed(form))
    browser = request.cookies.get(ASKED) or token_urlsafe(32)
    response = await show_sign_in(request, sent_to=email)
    response.set_cookie(ASKED, browser, max_age=int(ASKED_LASTS.total_seconds()), **cookie_about(request))
    if mail.is_on(request):
        response.background = BackgroundTask(_send, request, email.lower(), browser)
    return response


async def _send(request: Request, email: str, browser: str) -> None:
    """Create a link and send it; for no partner, or after too many links for one address, do nothing."""
    try:
        await request.app.state.limits.hit("forgotten", f"portal {email}")
        token = await storage_of(request).write(portal.ask, email, browser=browser, at=time_of(request))
    except errors.RateLimited:
        return
    except errors.ServiceError as error:
        mail.log.warning("no link to the portal was sent: %s", error.code)
        return
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
        raise errors.ValidationError(fields=[errors.FieldError("program_id", "Choose a program")])
    about: dict[str, Any] = {"browser": request.cookies.get(ASKED, ""), "client": request.headers.get("user-agent")}
    started = await storage_of(request).write(portal.redeem, token, ids[chosen], **about, at=time_of(request))
    response = notices.redirect(authentication.PORTAL)
    seconds = int((started.expires_at - time_of(request)).total_seconds())
    name = authentication.cookie_name(request)
    response.set_cookie(name, started.token, max_age=seconds, **cookie_about(request))
    return response


async def leave(request: Request) -> Response:
    """Sign out: delete the session and its cookie."""
    await forms.read_form(request)
    await storage_of(request).write(sessions.end, **portal.session_of(session_token(request)))
    response = notices.redirect(SIGN_IN)
    response.delete_cookie(authentication.cookie_name(request), **cookie_about(request))
    return response


OPEN_LINK = LinkPage(portal.find, "portal/templates/link.html", _enter, draw, "portal/templates/open_link.html")
