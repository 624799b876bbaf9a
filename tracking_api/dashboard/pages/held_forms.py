"""A form whose session had ended keeps its values: sealed in the sign-in page, then shown with a button that sends it.

Only a form from our own pages is held, for an hour, and never one with a secret in it.
"""

from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from storage.rules.errors import ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import time_of
from tracking_api.dashboard.pages import forms, templates
from tracking_api.dashboard.pages.forms import FIELD

LIFETIME = timedelta(hours=1)
LARGEST = 32 * 1024  # sealed
PURPOSE = "form after signing in"
NOT_HELD = {"/sign-out"}  # a session that has ended needs no signing out
SECRETS = {"current_password", "new_password", "repeated", "password", "totp", "webhook_secret"}


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
    except ServiceError:
        return None
    fields = [[name, value] for name, sent in form.fields.items() for value in sent if name != FIELD]
    return None if SECRETS & form.fields.keys() else Held(forms.path_of(request.url), page_of(request), fields)


async def sealed(request: Request) -> str:
    """Return the rejected form as the sign-in page carries it; empty for one that is not held, or too large."""
    held, until = await hold(request), time_of(request) + LIFETIME
    values: str = request.app.state.settings.sealer().seal_until(until, PURPOSE, *held) if held else ""
    return values if len(values) <= LARGEST else ""


def unseal(request: Request, sealed: str) -> Held | None:
    """Return the form that a sign-in page carried; None without one, and for one that is not ours or too old."""
    values = request.app.state.settings.sealer().open_until(time_of(request), PURPOSE, sealed)
    return Held(*values) if values else None


def offer(request: Request, held: Held, *, csrf: str, status: int = 200) -> Response:
    """Return the page that shows the fields that a person filled in, with a button that sends all of them."""
    shown = [field for field in held.fields if field[0] != "revision" and field[1]]
    return templates.render(request, "held_form.html", status=status, held=held, shown=shown, csrf=csrf)


def page_of(request: Request) -> str:
    """Return the path and query of the page that a form is from, as the browser names it."""
    page = urlsplit(request.headers.get("referer", ""))
    own = page.netloc == request.headers.get("host")
    return forms.path_of(page) if own and page.path else "/programs"
