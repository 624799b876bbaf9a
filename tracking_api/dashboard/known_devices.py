"""Browsers that have signed in to an account before: wrong passwords from elsewhere do not slow them down.

A cookie for each account names the browser; it is sealed, and signs in to nothing. It has a limit of its own.
"""

from datetime import timedelta
from secrets import token_hex

from starlette.requests import Request
from starlette.responses import Response

from storage.rules import keys
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import time_of

LIFETIME = timedelta(days=180)
PURPOSE = "known device"


def remember(request: Request, response: Response, email: str) -> None:
    """Let the browser store that it signed in to an account."""
    until = time_of(request) + LIFETIME
    sealed = request.app.state.settings.sealer().seal_until(until, PURPOSE, email, token_hex(16))
    seconds, secure = int(LIFETIME.total_seconds()), authentication.is_https(request)
    response.set_cookie(_cookie(email), sealed, max_age=seconds, httponly=True, samesite="lax", secure=secure)


def find(request: Request, email: str) -> str | None:
    """Return the name of a browser that signed in to the account before, for its limits; None for any other."""
    sealer, sealed = request.app.state.settings.sealer(), request.cookies.get(_cookie(email), "")
    known = sealer.open_until(time_of(request), PURPOSE, sealed)
    return f"device {known[1]}" if known and known[0] == email else None


def _cookie(email: str) -> str:
    return f"svc_device_{keys.digest(email)[:8]}"
