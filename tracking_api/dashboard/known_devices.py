"""Browsers that have signed in to an account before: wrong passwords from elsewhere do not slow them down.

A cookie for each account names the browser; it is sealed, and signs in to nothing. It has a limit of its own.
"""

import json
from datetime import timedelta
from secrets import token_hex

from starlette.requests import Request
from starlette.responses import Response

from storage.engine.sealing import UnreadableSecretError
from storage.rules import keys
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import time_of

LIFETIME = timedelta(days=180)
PURPOSE = "known device"


def remember(request: Request, response: Response, email: str) -> None:
    """Let the browser store that it signed in to an account."""
    values = [PURPOSE, email, token_hex(16), (time_of(request) + LIFETIME).timestamp()]
    sealed = request.app.state.settings.sealer().seal(json.dumps(values))
    seconds, secure = int(LIFETIME.total_seconds()), authentication.is_https(request)
    response.set_cookie(_cookie(email), sealed, max_age=seconds, httponly=True, samesite="lax", secure=secure)


def find(request: Request, email: str) -> str | None:
    """Return the name of a browser that signed in to the account before, for its limits; None for any other."""
    try:
        values = json.loads(request.app.state.settings.sealer().open(request.cookies.get(_cookie(email), "")))
    except UnreadableSecretError:
        return None
    is_known = isinstance(values, list) and values[:2] == [PURPOSE, email] and values[3] > time_of(request).timestamp()
    return f"device {values[2]}" if is_known else None


def _cookie(email: str) -> str:
    return f"svc_device_{keys.digest(email)[:8]}"
