"""The home page, the set-up of an empty server, and signing in and out: the session's token is in a cookie.

The set-up page is opened by the code that `svc serve` printed once. Signing in asks for a password, then for a code.
What proves, for five minutes, that the first step gave the right password is sealed in the form of the second one. So
is, for an hour, a form from our own pages whose session had ended: signed in, the visitor sees it and can send it.
"""

import hmac
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import Code, Email
from presentation.settings_models import Host, Name
from storage.access import sessions, workspaces
from storage.management import program_settings
from storage.rules import errors, keys, settings
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices, templates
from tracking_api.dashboard.sessions import Credentials, hash_of_new, require_account, start
from web.body import Body, Currency
from web.errors import STATUS, error_headers
from web.limits import network_of

PROGRAMS = "/programs"
_OURS = re.compile(
    r"/(account|programs|search|device|assistants|connect|join|workspaces)(/[A-Za-z0-9_=-]+)*(\.csv)?"
    r"(\?[A-Za-z0-9%&=+.,:;~!*'()@/_-]*)?"
)
PROOF_LIFETIME = timedelta(minutes=5)
PURPOSE = "second step of signing in"
HELD_LIFETIME = timedelta(hours=1)
LARGEST_HELD = 32 * 1024  # sealed
HELD_PURPOSE = "form after signing in"
NOT_HELD = {"/sign-out"}  # a session that has ended needs no signing out
SECRETS = {"current_password", "new_password", "repeated", "password", "totp", "webhook_secret"}


class SetUpForm(Body):
    """The fields of the form, without the password."""

    email: Email
    workspace_name: Name
    program_name: Name
    domain: Host
    currency: Currency
    partner_name: Name
    partner_code: Code


async def show_home(request: Request) -> Response:
    """Show the home page, or how to set up an empty server; redirect a signed-in visitor to their programs."""
    try:
        await authentication.visitor(request)
    except errors.Forbidden:
        if not await storage_of(request).read(workspaces.exist):
            return templates.render(request, "set_up_needed.html")
        return templates.render(request, "home.html")
    return notices.redirect("/programs")


async def show_set_up(request: Request) -> Response:
    """Show the form; opening it does not use the code up. Raises Forbidden, RateLimited, NotFound."""
    await _require_code(request, request.query_params.get("code", ""))
    typed = {"code": request.query_params["code"], "currency": "USD"}
    return templates.render(request, "set_up.html", typed=typed, problems={})


async def set_up(request: Request) -> Response:
    """Create the workspace, sign its owner in and show the key once. Raises Forbidden, RateLimited, NotFound."""
    form = await forms.read_open_form(request, "the link")
    problems = dict[str, str]()
    await _require_code(request, form.text("code"))
    try:
        fields = forms.parsed(form, SetUpForm)
    except errors.ValidationError as rejection:
        problems |= forms.problems_of(rejection)
    try:
        password_hash = await hash_of_new(request, forms.chosen_password(form), email=form.text("email"))
        if not problems:
            chosen = settings.ProgramSettings(fields.program_name, fields.domain, fields.currency)
            about: dict[str, Any] = {"workspace": fields.workspace_name, "email": fields.email, "at": time_of(request)}
            about |= {"password_hash": password_hash, "client": request.headers.get("user-agent")}
            about["partner"] = {"name": fields.partner_name, "code": fields.partner_code}
            program_id, key, session = await storage_of(request).write(program_settings.set_up, chosen, **about)
    except (errors.ValidationError, errors.CurrencyNotSupported) as rejection:
        problems |= forms.problems_of(rejection)
    if problems:
        return templates.render(request, "set_up.html", typed=forms.typed(form), problems=problems)
    response = templates.render(request, "set_up_done.html", program_id=program_id, key=key, name=chosen.name)
    return let_in(request, response, session, fields.email.lower())


async def _require_code(request: Request, code: str) -> None:
    """Raise Forbidden on a server with a workspace, and NotFound without the code; wrong codes are limited."""
    if await storage_of(request).read(workspaces.exist):
        raise errors.Forbidden("This server is set up already.")
    limits, client = request.app.state.limits, network_of(request)
    await limits.check("set_up", client)
    if not hmac.compare_digest(keys.digest(code), keys.digest(request.app.state.settings.set_up_code())):
        await limits.hit("set_up", client)
        raise errors.NotFound("This code does not open the set-up page.", hint="Use the code that `svc serve` prints.")


async def show_sign_in(request: Request) -> Response:
    """Show the form, or how to set up an empty server."""
    if not await storage_of(request).read(workspaces.exist):
        return templates.render(request, "set_up_needed.html")
    return show_form(request, {"next": request.query_params.get("next", "")})


async def enter(request: Request) -> Response:
    """Sign in and open the page in `next`, or offer the form in `held`; an error appears above the form."""
    form = await forms.read_open_form(request, "the sign-in page")
    typed = {name: form.text(name) for name in ("next", "held", "email")}
    proof = form.text("proof")
    try:
        if proof:
            account = await _proven(request, proof)
        else:
            account = await require_account(request, forms.parsed(form, Credentials))
        started = await start(request, account, form.text("totp") or None)
    except errors.SecondFactorRequired:
        until = time_of(request) + PROOF_LIFETIME
        known = keys.digest(account.password_hash)
        proof = request.app.state.settings.sealer().seal_until(until, PURPOSE, account.email, known)
        return show_form(request, typed | {"proof": proof})
    except (errors.InvalidSecondFactor, errors.RateLimited) as rejection:
        return show_form(request, typed | {"proof": proof}, rejection)
    except (errors.InvalidCredentials, errors.Overloaded) as rejection:
        return show_form(request, typed, rejection)
    except errors.ValidationError:
        return show_form(request, typed, errors.InvalidCredentials())
    if held := request.app.state.settings.sealer().open_until(time_of(request), HELD_PURPOSE, typed["held"]):
        response = offer(request, Held(*held), csrf=authentication.token_of(started.token))
    else:
        response = notices.redirect(typed["next"] if _OURS.fullmatch(typed["next"]) else PROGRAMS)
    return let_in(request, response, started, account.email)


async def leave(request: Request) -> Response:
    """Sign out: delete the session and its cookie."""
    await forms.read_form(request)
    await storage_of(request).write(sessions.end, sessions.by_token(authentication.presented(request) or ""))
    response = notices.redirect("/sign-in", "signed-out")
    response.delete_cookie(authentication.cookie_name(request), **authentication.cookie_flags(request))
    return response


def show_form(request: Request, typed: Mapping[str, str], rejection: errors.ServiceError | None = None) -> Response:
    """Return the sign-in page and what was wrong; `typed` has `next`, `held`, `email`, the first step's `proof`."""
    status = STATUS[rejection.code] if rejection else 200
    response = templates.render(request, "sign_in.html", status=status, typed=typed, rejection=rejection)
    response.headers.update(error_headers(rejection) if rejection else {})
    return response


def let_in(request: Request, response: Response, started: sessions.Started, email: str) -> Response:
    """Let the browser store a session's token until the session ends, and that it signed in to the account."""
    authentication.store_session(request, response, started)
    authentication.remember_device(request, response, email)
    return response


async def _proven(request: Request, proof: str) -> sessions.Account:
    """Return the account of a proof, which ends with its password. Raises InvalidCredentials if it is not valid."""
    email, known = request.app.state.settings.sealer().open_until(time_of(request), PURPOSE, proof) or ("", "")
    account = await storage_of(request).read(sessions.account, email)
    if account is None or keys.digest(account.password_hash) != known:
        raise errors.InvalidCredentials("That took too long. Sign in again.")
    return account


class Held(NamedTuple):
    """A form that waits to be sent: where to, the page that it is from, and its fields in order."""

    action: str
    page: str
    fields: list[list[str]]


async def hold(request: Request) -> Held | None:
    """Return a rejected form if it may be held: None for one of another site, a file or a secret."""
    if not authentication.is_our_own(request) or request.url.path in NOT_HELD:
        return None
    try:
        form = await forms.content(request)
    except errors.ServiceError:
        return None
    fields = [[name, value] for name, sent in form.fields.items() for value in sent if name != forms.FIELD]
    return None if SECRETS & form.fields.keys() else Held(forms.path_of(request.url), page_of(request), fields)


async def sealed(request: Request) -> str:
    """Return the rejected form as the sign-in page carries it; empty for one that is not held, or too large."""
    held, until = await hold(request), time_of(request) + HELD_LIFETIME
    values: str = request.app.state.settings.sealer().seal_until(until, HELD_PURPOSE, *held) if held else ""
    return values if len(values) <= LARGEST_HELD else ""


def offer(request: Request, held: Held, *, csrf: str, status: int = 200) -> Response:
    """Return the page that shows the fields that a person filled in, with a button that sends all of them."""
    shown = [field for field in held.fields if field[0] != "revision" and field[1]]
    return templates.render(request, "held_form.html", status=status, held=held, shown=shown, csrf=csrf)


def page_of(request: Request) -> str:
    """Return the path and query of the page that a form is from, as the browser names it."""
    page = urlsplit(request.headers.get("referer", ""))
    own = page.netloc == request.headers.get("host")
    return forms.path_of(page) if own and page.path else "/programs"
