"""The page for people who have forgotten their password: an e-mail with a one-time link, or whom to ask."""

from typing import Any

from pydantic_core import to_json
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import Email
from storage.access import accounts
from storage.engine.audit import Actor
from storage.rules.errors import NotFound, RateLimited, ServiceError, ValidationError
from tracking_api.dashboard import mail
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.invitations import reset_link
from tracking_api.dashboard.pages import forms, templates
from tracking_api.dashboard.pages.forms import Problems
from web import body
from web.body import Body
from web.limits import network_of


class Forgotten(Body):
    """The account whose password is forgotten."""

    email: Email


async def show_forgotten(request: Request) -> Response:
    """Show the form, or whom to ask where the server sends no e-mail."""
    return _page(request)


async def send_link(request: Request) -> Response:
    """Send a link to the account; the response is the same, and as fast, whether there is one. Raises RateLimited."""
    form = await forms.read_open_form(request, "the page")
    await request.app.state.limits.hit("reset", network_of(request))
    try:
        sent = body.parse(Forgotten, to_json({"email": form.text("email")}))
    except ValidationError as rejection:
        return _page(request, problems=Problems.of(rejection))
    response = _page(request, sent_to=sent.email)
    if mail.is_on(request):
        response.background = BackgroundTask(_send, request, sent.email)
    return response


async def _send(request: Request, email: str) -> None:
    """Create a link and send it; for no account, or after too many links for one, do nothing."""
    try:
        await request.app.state.limits.hit("forgotten", email.lower())
        user_id = await storage_of(request).read(accounts.find_id, email)
        about: dict[str, Any] = {"actor": Actor("user", str(user_id), email.lower()), "at": time_of(request)}
        created = await storage_of(request).write(accounts.create_reset_link, user_id, **about)
    except (NotFound, RateLimited):
        return
    except ServiceError as error:
        mail.log.warning("no reset link was sent: %s", error.code)
        return
    await mail.send(request, email.lower(), "reset", email=email.lower(), link=reset_link(request, created.token))


def _page(request: Request, *, problems: Problems | None = None, sent_to: str | None = None) -> Response:
    status = 400 if problems else 200
    shown = {"problems": problems or Problems(), "sent_to": sent_to, "sends_mail": mail.is_on(request)}
    return templates.render(request, "forgotten_password.html", status=status, **shown)
