"""The page that an invitation's link opens: create the account, or join with the one that is signed in."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from storage.access import invitations, passwords
from storage.access.invitations import Offer
from storage.rules.errors import Forbidden, ValidationError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices, templates
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.sign_in import PROGRAMS, set_session_cookie
from tracking_api.dashboard.password_queue import hash_of_new
from web.limits import network_of


async def show_join(request: Request) -> Response:
    """Show who invites to what; opening the link does not use it up. Raises LinkExpired, RateLimited."""
    return await _form(request, await _offer(request), Problems())


async def join(request: Request) -> Response:
    """Join the workspace. Raises LinkExpired, RateLimited, Forbidden for another account than the invited."""
    form = await forms.read_open_form(request, "the link")
    offer, token = await _offer(request), request.path_params["token"]
    if offer.user_id is not None:
        visitor = await authentication.visitor(request)
        forms.require_token(request, form)
        await storage_of(request).write(invitations.join, token, user_id=visitor.user_id, at=time_of(request))
        return notices.redirect(PROGRAMS, "joined")
    try:
        password_hash = await hash_of_new(request, forms.chosen_password(form), email=offer.email)
    except ValidationError as rejection:
        return await _form(request, offer, Problems.of(rejection))
    about: dict[str, Any] = {"client": request.headers.get("user-agent"), "at": time_of(request)}
    started = await storage_of(request).write(invitations.sign_up, token, password_hash=password_hash, **about)
    response = notices.redirect(PROGRAMS, "joined")
    set_session_cookie(request, response, started)
    return response


async def _offer(request: Request) -> Offer:
    await request.app.state.limits.hit("reset", network_of(request))
    return await storage_of(request).read(invitations.find, request.path_params["token"], at=time_of(request))


async def _form(request: Request, offer: Offer, problems: Problems) -> Response:
    try:
        signed_in = (await authentication.visitor(request)).email
    except Forbidden:
        signed_in = None
    shown: dict[str, Any] = {
        "offer": offer,
        "signed_in": signed_in,
        "problems": problems,
        "shortest": passwords.SHORTEST,
    }
    return templates.render(request, "join.html", **shown)
