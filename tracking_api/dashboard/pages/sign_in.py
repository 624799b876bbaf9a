"""Sign in with e-mail address and password, and sign out: the session's token is in an HttpOnly cookie."""

import re

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response

from storage.access import sessions, workspaces
from storage.access.sessions import Account, Started
from storage.rules.errors import (
    InvalidCredentials,
    InvalidSecondFactor,
    Overloaded,
    RateLimited,
    SecondFactorRequired,
    ValidationError,
)
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, held_forms, notices, second_step, templates
from tracking_api.dashboard.pages.forms import Form
from tracking_api.dashboard.pages.page import SIGN_IN, redirect
from tracking_api.dashboard.pages.sign_in_form import Afterwards, show_form
from tracking_api.dashboard.sessions import Credentials, require_account, start
from web import body
from web.limits import network_of

PROGRAMS = "/programs"
_OURS = re.compile(
    r"/(account|programs|search|device|assistants|connect|join|workspaces)(/[A-Za-z0-9_=-]+)*(\.csv)?"
    r"(\?[A-Za-z0-9%&=+.,:;~!*'()@/_-]*)?"
)


async def show_sign_in(request: Request) -> Response:
    """Show the form, or how to set up an empty server."""
    if not await storage_of(request).read(workspaces.exist):
        return templates.render(request, "set_up_needed.html")
    return show_form(request, Afterwards(request.query_params.get("next", "")))


async def enter(request: Request) -> Response:
    """Sign in and open the page in `next`, or offer the form in `held`; an error appears above the form."""
    form = await forms.read_open_form(request, "the sign-in page")
    afterwards, proof = Afterwards(form.text("next"), form.text("held")), form.text("proof")
    try:
        account = await (second_step.require_proof(request, proof) if proof else _account(request, form))
        started = await start(request, account, form.text("totp") or None)
    except SecondFactorRequired:
        return show_form(request, afterwards, proof=second_step.prove(request, account))
    except (InvalidSecondFactor, RateLimited) as rejection:
        return show_form(request, afterwards, proof=proof, rejection=rejection)
    except (InvalidCredentials, Overloaded) as rejection:
        return show_form(request, afterwards, email=form.text("email"), rejection=rejection)
    except ValidationError:
        return show_form(request, afterwards, email=form.text("email"), rejection=InvalidCredentials())
    await request.app.state.limits.forget("login", network_of(request), account.email)
    return _entered(request, started, afterwards)


async def _account(request: Request, form: Form) -> Account:
    fields = {"email": form.text("email"), "password": form.fields.get("password", [""])[0]}
    return await require_account(request, body.parse(Credentials, to_json(fields)))


async def leave(request: Request) -> Response:
    """Sign out: delete the session and its cookie."""
    await forms.read_form(request)
    token_hash = authentication.presented(request)
    if token_hash is not None:
        await storage_of(request).write(sessions.end, token_hash)
    response = redirect(SIGN_IN)
    name, secure = authentication.cookie_name(request), authentication.is_https(request)
    response.delete_cookie(name, httponly=True, samesite="lax", secure=secure)
    return notices.leave(response, "signed-out")


def _entered(request: Request, started: Started, afterwards: Afterwards) -> Response:
    held = held_forms.unseal(request, afterwards.held)
    if held:
        response = held_forms.offer(request, held, csrf=forms.token_of(started.token))
    else:
        response = redirect(afterwards.next_path if _OURS.fullmatch(afterwards.next_path) else PROGRAMS)
    set_session_cookie(request, response, started)
    return response


def set_session_cookie(request: Request, response: Response, started: Started) -> None:
    """Let the browser store a session's token until the session ends."""
    response.set_cookie(
        authentication.cookie_name(request),
        started.token,
        max_age=int((started.expires_at - time_of(request)).total_seconds()),
        httponly=True,
        samesite="lax",
        secure=authentication.is_https(request),
    )
