"""The page that a one-time link opens: set a new password, then sign in with it."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from storage.access import accounts, passwords
from storage.rules.errors import ValidationError
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices, templates
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.page import SIGN_IN, redirect
from tracking_api.dashboard.password_queue import hashed
from web.limits import network_of


async def show_reset(request: Request) -> Response:
    """Show the form; opening the link does not use it up. Raises LinkExpired."""
    return _form(request, await _email(request), Problems())


async def reset_password(request: Request) -> Response:
    """Set the password and end the account's sessions. Raises LinkExpired."""
    form = await forms.read_open_form(request, "the link")
    email = await _email(request)
    try:
        chosen = forms.chosen_password(form)
        new_hash = await hashed(request, partial(passwords.protect_new, chosen, email=email, field="new_password"))
    except ValidationError as rejection:
        return _form(request, email, Problems.of(rejection))
    token = request.path_params["token"]
    await storage_of(request).write(accounts.reset_password, token, new_hash, at=time_of(request))
    return notices.leave(redirect(SIGN_IN), "password-set")


async def _email(request: Request) -> str:
    await request.app.state.limits.hit("reset", network_of(request))
    return await storage_of(request).read(accounts.get_reset_email, request.path_params["token"], at=time_of(request))


def _form(request: Request, email: str, problems: Problems) -> Response:
    status = 400 if problems else 200
    shortest = passwords.SHORTEST
    return templates.render(
        request, "reset_password.html", status=status, email=email, problems=problems, shortest=shortest
    )
