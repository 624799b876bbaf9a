"""The pages that one-time links open, to join a workspace or set a new password, and how to get a link by e-mail."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from pydantic_core import to_json
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import Email
from storage.access import accounts, invitations, passwords
from storage.access.invitations import Offer
from storage.access.sessions import Started
from storage.rules.errors import (
    FieldError,
    Forbidden,
    InvalidSecondFactor,
    LinkExpired,
    NotFound,
    RateLimited,
    SecondFactorRequired,
    ServiceError,
    ValidationError,
)
from tracking_api.dashboard import authentication, known_devices, mail
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.mail import Alert
from tracking_api.dashboard.members import reset_link
from tracking_api.dashboard.pages import forms, link_token, notices, templates
from tracking_api.dashboard.pages.forms import Form, Problems
from tracking_api.dashboard.pages.sign_in import PROGRAMS, set_session_cookie
from tracking_api.dashboard.password_queue import hash_of_new, hashed
from web import body
from web.body import Body
from web.limits import network_of

PASSWORD_SET = Alert(
    "The password of your account was set by a link",
    "Every browser and device is signed out, and the assistants of the account are disconnected.",
)
Result = TypeVar("Result")


class Forgotten(Body):
    """The account whose password is forgotten."""

    email: Email


async def show_forgotten(request: Request) -> Response:
    """Show the form, or whom to ask where the server sends no e-mail."""
    return _forgotten(request, Problems())


async def send_link(request: Request) -> Response:
    """Send a link to the account; the response is the same, and as fast, whether there is one. Raises RateLimited."""
    form = await forms.read_open_form(request, "the page")
    await request.app.state.limits.hit("reset", network_of(request))
    try:
        email = body.parse(Forgotten, to_json({"email": form.text("email")})).email
    except ValidationError as rejection:
        return _forgotten(request, Problems.of(rejection))
    response = _forgotten(request, Problems(), sent_to=email)
    if mail.is_on(request):
        response.background = BackgroundTask(_send, request, email.lower())
    return response


async def show_reset(request: Request) -> Response:
    """Show the form for a new password; opening the link does not use it up. Raises RateLimited."""
    try:
        email = await _opened(request, accounts.get_reset_email, await link_token.of(request))
    except LinkExpired as rejection:
        return link_token.show_open(request, rejection)
    return _reset(request, email, Problems())


async def reset_password(request: Request) -> Response:
    """Set the password and end the account's sessions, and tell its holder. Raises LinkExpired, RateLimited."""
    form = await forms.read_open_form(request, "the link")
    if link_token.is_alone(form):
        return link_token.keep(request, form)
    token = await link_token.of(request, form)
    email = await _opened(request, accounts.get_reset_email, token)
    try:
        new_hash = await hash_of_new(request, forms.chosen_password(form), email=email)
    except ValidationError as rejection:
        return _reset(request, email, Problems.of(rejection))
    await storage_of(request).write(accounts.reset_password, token, new_hash, at=time_of(request))
    response = link_token.without(request, notices.redirect("/sign-in", "password-set"))
    known_devices.remember(request, response, email)
    response.background = BackgroundTask(mail.send_alert, request, email, PASSWORD_SET)
    return response


async def show_join(request: Request) -> Response:
    """Show who invites to what; opening the link does not use it up. Raises RateLimited."""
    try:
        offer = await _opened(request, invitations.find, await link_token.of(request))
    except LinkExpired as rejection:
        return link_token.show_open(request, rejection)
    return await _joining(request, offer, Problems())


async def join(request: Request) -> Response:
    """Join the workspace. Raises LinkExpired, RateLimited, Forbidden for another account than the invited."""
    form = await forms.read_open_form(request, "the link")
    if link_token.is_alone(form):
        return link_token.keep(request, form)
    token = await link_token.of(request, form)
    offer = await _opened(request, invitations.find, token)
    if offer.user_id is not None:
        visitor = await authentication.visitor(request)
        forms.require_token(request, form)
        await storage_of(request).write(invitations.join, token, user_id=visitor.user_id, at=time_of(request))
        return link_token.without(request, notices.redirect(PROGRAMS, "joined"))
    try:
        started = await _sign_up(request, form, offer, token)
    except ValidationError as rejection:
        return await _joining(request, offer, Problems.of(rejection))
    except (SecondFactorRequired, InvalidSecondFactor) as rejection:
        return await _joining(request, offer, Problems(totp=rejection.text))
    response = link_token.without(request, notices.redirect(PROGRAMS, "joined"))
    set_session_cookie(request, response, started)
    known_devices.remember(request, response, offer.email)
    return response


async def _sign_up(request: Request, form: Form, offer: Offer, token: str) -> Started:
    if offer.asks_password:
        password_hash = await _hash_of_known(request, offer.email, form.raw("new_password"))
    else:
        password_hash = await hash_of_new(request, forms.chosen_password(form), email=offer.email)
    code = form.text("totp") or None
    if code:
        await request.app.state.limits.hit("second_factor", offer.email)
    about: dict[str, Any] = {"client": request.headers.get("user-agent"), "at": time_of(request)}
    about |= {"code": code, "sealer": request.app.state.settings.sealer()}
    return await storage_of(request).write(invitations.sign_up, token, password_hash=password_hash, **about)


async def _hash_of_known(request: Request, email: str, password: str) -> str:
    """Return the stored hash of an account's password. Raises ValidationError for another password, RateLimited."""
    await request.app.state.limits.hit("login", network_of(request), email)
    await request.app.state.limits.hit("wrong", email)
    stored = await storage_of(request).read(accounts.find_hash, email) or ""
    if not await hashed(request, partial(passwords.matches, stored, password)):
        raise ValidationError(fields=[FieldError("new_password", "This is not the account's password")])
    return stored


async def _send(request: Request, email: str) -> None:
    """Create a link and send it; for no account, or after too many links for one, do nothing."""
    try:
        await request.app.state.limits.hit("forgotten", email)
        created = await storage_of(request).write(accounts.create_mailed_link, email, at=time_of(request))
    except (NotFound, RateLimited):
        return
    except ServiceError as error:
        mail.log.warning("no reset link was sent: %s", error.code)
        return
    await mail.send(request, email, "reset", email=email, link=reset_link(request, created.token))


async def _opened(request: Request, operation: Callable[..., Result], token: str) -> Result:
    """Return what a link is for. Raises LinkExpired."""
    return await storage_of(request).read(operation, token, at=time_of(request))


def _forgotten(request: Request, problems: Problems, *, sent_to: str | None = None) -> Response:
    shown: dict[str, Any] = {"problems": problems, "sent_to": sent_to, "sends_mail": mail.is_on(request)}
    return templates.render(request, "forgotten_password.html", **shown)


def _reset(request: Request, email: str, problems: Problems) -> Response:
    return templates.render(request, "reset_password.html", email=email, problems=problems)


async def _joining(request: Request, offer: Offer, problems: Problems) -> Response:
    try:
        signed_in = (await authentication.visitor(request)).email
    except Forbidden:
        signed_in = None
    return templates.render(request, "join.html", offer=offer, signed_in=signed_in, problems=problems)
