"""The pages that one-time links open, to join a workspace or set a new password, and how to get a link by e-mail.

A link's token is in its fragment, which browsers send to no server, and so to no log of a proxy. The page of the link
posts it, and gets it back in a cookie for this page alone until it is used.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import Email
from presentation.operations import EMPTY
from storage.access import accounts, invitations, passwords
from storage.engine.audit import SERVICE, By
from storage.rules import errors
from tracking_api.dashboard import authentication, mail, members, sessions
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices, sign_in, templates
from web.body import Body
from web.limits import network_of

COOKIE = "svc_link"
SECONDS = 15 * 60


@dataclass(frozen=True)
class LinkPage:
    """The page of a kind of link: `find` reads what a token is for, `template` has its form, `use` does as it says.

    Until the page has a token, it shows the template `opening`; `render` draws both.
    """

    find: Callable[..., Any]
    template: str
    use: Callable[[Request, forms.Form, Any, str], Awaitable[Response]]
    render: Callable[..., Response] = templates.render
    opening: str = "open_link.html"

    async def show(self, request: Request) -> Response:
        """Show the form, which does not use the link up; else the page that posts the fragment, or takes its code."""
        try:
            found = await self._found(request, request.cookies.get(COOKIE, ""))
        except errors.LinkExpired as rejection:
            told, status = (rejection, 404) if COOKIE in request.cookies else (None, None)
            page = self.render(request, self.opening, status=status, rejection=told)
            return _without_token(request, page)
        return await self._draw(request, found, EMPTY)

    async def press(self, request: Request) -> Response:
        """Do what the form says. Raises LinkExpired, RateLimited, Forbidden for another account than the invited."""
        form = await forms.read_open_form(request, "the link")
        if form.fields.keys() == {"token"}:  # what the page's script posts
            response = notices.redirect(request.url.path)
            response.set_cookie(COOKIE, form.text("token"), max_age=SECONDS, **_about_cookie(request))
            return response
        token = form.text("token") or request.cookies.get(COOKIE, "")
        found = await self._found(request, token)
        try:
            return _without_token(request, await self.use(request, form, found, token))
        except (errors.ValidationError, errors.SecondFactorRequired, errors.InvalidSecondFactor) as rejection:
            return await self._draw(request, found, forms.problems_of(rejection))

    async def _draw(self, request: Request, found: Any, problems: Mapping[str, str]) -> Response:
        signed_in = None
        with suppress(errors.Forbidden):
            signed_in = (await authentication.visitor(request)).email
        return self.render(request, self.template, link=found, signed_in=signed_in, problems=problems)

    async def _found(self, request: Request, token: str) -> Any:
        await request.app.state.limits.hit("reset", network_of(request))
        if not token:
            raise errors.LinkExpired("This page opens with a link.")
        return await storage_of(request).read(self.find, token, at=time_of(request))


def _without_token(request: Request, response: Response) -> Response:
    if COOKIE in request.cookies:
        response.delete_cookie(COOKIE, **_about_cookie(request))
    return response


def _about_cookie(request: Request) -> dict[str, Any]:
    return {**authentication.cookie_flags(request), "path": request.url.path, "samesite": "strict"}


async def _reset(request: Request, form: forms.Form, link: Any, token: str) -> Response:
    """Set the password and end the account's sessions, and tell its holder."""
    email = link.email
    new_hash = await sessions.hash_of_new(request, forms.chosen_password(form), email=email)
    await storage_of(request).write(accounts.reset_password, token, new_hash, at=time_of(request))
    response = notices.redirect("/sign-in", "password-set")
    authentication.remember_device(request, response, email)
    response.background = BackgroundTask(mail.send_alert, request, email, "password-set")
    return response


async def _join(request: Request, form: forms.Form, offer: Any, token: str) -> Response:
    """Add the signed-in account to the workspace, or sign up, with the password of an account that exists."""
    response = notices.redirect(sign_in.PROGRAMS, "joined")
    limits = request.app.state.limits
    if offer.user_id is not None:
        visitor = await authentication.visitor(request)
        forms.require_token(request, form)
        await storage_of(request).write(invitations.join, token, user_id=visitor.user_id, at=time_of(request))
        return response
    if offer.asks_password:
        await limits.hit("login", network_of(request), offer.email)
        await limits.hit("wrong", offer.email)
        password_hash = await storage_of(request).read(accounts.find_hash, offer.email) or ""
        if not await sessions.hashed(request, partial(passwords.matches, password_hash, form.raw("new_password"))):
            raise errors.ValidationError.of("new_password", "This is not the account's password")
    else:
        password_hash = await sessions.hash_of_new(request, forms.chosen_password(form), email=offer.email)
    code = form.text("totp") or None
    if code:
        await limits.hit("second_factor", offer.email)
    about: dict[str, Any] = {"client": request.headers.get("user-agent"), "at": time_of(request)}
    about |= {"code": code, "sealer": request.app.state.settings.sealer()}
    started = await storage_of(request).write(invitations.sign_up, token, password_hash=password_hash, **about)
    return sign_in.let_in(request, response, started, offer.email)


class LinkRequest(Body):
    """The e-mail address to which a link is sent."""

    email: Email


@dataclass(frozen=True)
class AskPage:
    """The page on which a visitor asks for a link; `send` creates it and sends it by e-mail, after the response.

    The response is the same, and as fast, whether there is such an account, and after too many links for one.
    """

    template: str
    send: Callable[[Request, str], Awaitable[None]]
    render: Callable[..., Response] = templates.render

    async def show(self, request: Request, **shown: Any) -> Response:
        """Show the form, or whom to ask where the server sends no e-mail."""
        about = {"problems": EMPTY, "typed": EMPTY, "sent_to": None, "sends_mail": mail.is_on(request)}
        return self.render(request, self.template, **about | shown)

    async def press(self, request: Request) -> Response:
        """Send a link. Raises RateLimited."""
        form = await forms.read_open_form(request, "the page")
        await request.app.state.limits.hit("reset", network_of(request))
        try:
            email = forms.parsed(form, LinkRequest).email
        except errors.ValidationError as rejection:
            return await self.show(request, problems=forms.problems_of(rejection), typed=forms.typed(form))
        response = await self.show(request, sent_to=email)
        if mail.is_on(request):
            response.background = BackgroundTask(self._send, request, email.lower())
        return response

    async def _send(self, request: Request, email: str) -> None:
        try:
            await request.app.state.limits.hit("forgotten", f"{request.url.path} {email}")
            await self.send(request, email)
        except (errors.NotFound, errors.RateLimited):
            return
        except errors.ServiceError as error:
            mail.log.warning("no link was sent: %s", error.code)


async def _send_reset(request: Request, email: str) -> None:
    """Send an account a link that resets its password. Raises NotFound."""
    created = await storage_of(request).write(accounts.create_reset_link, email, by=By(SERVICE, time_of(request)))
    await mail.send(request, email, "reset", email=email, link=members.reset_link(request, created.token))


FORGOTTEN = AskPage("forgotten_password.html", _send_reset)
RESET = LinkPage(accounts.find_reset, "reset_password.html", _reset)
JOIN = LinkPage(invitations.find, "join.html", _join)
