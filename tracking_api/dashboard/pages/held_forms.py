"""A form whose session had ended keeps its values: sealed in the sign-in page, then shown with a button that sends it.

Only a form from our own pages is held, for an hour, and never one with a secret in it.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import Response

from storage.engine.sealing import UnreadableSecretError
from storage.rules.errors import ServiceError
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import time_of
from tracking_api.dashboard.pages import forms, templates
from tracking_api.dashboard.pages.forms import FIELD

LIFETIME = timedelta(hours=1)
LARGEST = 24 * 1024
PURPOSE = "form after signing in"
NOT_HELD = {"/sign-out"}  # a session that has ended needs no signing out
SECRETS = {"current_password", "new_password", "repeated", "password", "totp", "webhook_secret"}


class Held(NamedTuple):
    """A form that waits to be sent: where to, the page that it is from, and its fields in order."""

    action: str
    page: str
    fields: list[list[str]]

    @property
    def shown(self) -> Iterator[list[str]]:
        """Return the fields that a person filled in."""
        return (field for field in self.fields if field[0] != "revision" and field[1])


async def hold(request: Request) -> Held | None:
    """Return a rejected form if it may be held: None for one of another site, a file or a secret."""
    if not authentication.is_our_own(request) or request.url.path in NOT_HELD:
        return None
    try:
        form = await forms.content(request)
    except ServiceError:
        return None
    fields = [[name, value] for name, sent in form.fields.items() for value in sent if name != FIELD]
    return None if SECRETS & form.fields.keys() else Held(_address(request.url), page_of(request), fields)


def seal(request: Request, held: Held | None) -> str:
    """Return what the sign-in page carries: its reader cannot open or change it. Empty for nothing to hold."""
    until = (time_of(request) + LIFETIME).timestamp()
    values = json.dumps([PURPOSE, until, *(held or ())])
    sealed: str = request.app.state.settings.sealer().seal(values) if held and len(values) <= LARGEST else ""
    return sealed


def unseal(request: Request, sealed: str) -> Held | None:
    """Return the form that a sign-in page carried; None without one, and for one that is not ours or too old."""
    try:
        values = json.loads(request.app.state.settings.sealer().open(sealed)) if sealed else []
    except UnreadableSecretError:
        values = []
    is_ours = isinstance(values, list) and values[:1] == [PURPOSE] and values[1] > time_of(request).timestamp()
    return Held(*values[2:]) if is_ours else None


def offer(request: Request, held: Held, *, csrf: str, status: int = 200) -> Response:
    """Return the page that shows a held form, with a button that sends it."""
    return templates.render(request, "held_form.html", status=status, held=held, csrf=csrf)


def page_of(request: Request) -> str:
    """Return the path and query of the page that a form is from, as the browser names it."""
    page = urlsplit(request.headers.get("referer", ""))
    own = page.netloc == request.headers.get("host")
    return _address(page) if own and page.path else "/programs"


def _address(url: URL | SplitResult) -> str:
    return f"{url.path}?{url.query}".removesuffix("?")
