"""POST /api/auth/device and /api/auth/device/token: how `svc login` gets a session (RFC 8628), approved on a page."""

from typing import Annotated

from pydantic import StringConstraints
from starlette.requests import Request

from storage.access import device_logins, sessions
from storage.access.device_logins import INTERVAL, LIFETIME
from storage.rules import keys
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.sessions import NO_STORE, shown
from web import body
from web.body import Body, Identifier
from web.response import JsonResponse


class DeviceLogin(Body):
    """A device that wants to log in: what it says it is."""

    client: Annotated[str, StringConstraints(max_length=255)] = "svc"


class DeviceToken(Body):
    """A device that asks whether its login was approved."""

    device_code: Identifier


async def ask(request: Request) -> JsonResponse:
    """Start a login: a code for the device to show, and the page on which a member approves it."""
    sent = body.parse(DeviceLogin, await body.read_body(request.scope, request.receive))
    host = request.client.host if request.client else "unknown"
    await request.app.state.limits.hit("login", host, "device")
    asked = await storage_of(request).write(device_logins.ask, client=sent.client, at=time_of(request))
    page = f"{request.app.state.settings.base_url}/device"
    return JsonResponse(
        {
            "device_code": asked.device_code,
            "user_code": asked.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}/{asked.user_code}",
            "expires_in": int(LIFETIME.total_seconds()),
            "interval": int(INTERVAL.total_seconds()),
        },
        headers=NO_STORE,
    )


async def token(request: Request) -> JsonResponse:
    """Answer with the session's token once the login is approved.

    Raises AuthorizationPending, SlowDown, AccessDenied, ExpiredToken.
    """
    sent = body.parse(DeviceToken, await body.read_body(request.scope, request.receive))
    storage, at = storage_of(request), time_of(request)
    started = await storage.write(device_logins.poll, sent.device_code, at=at)
    signed_in = await storage.read(sessions.identify, keys.digest(started.token), at=at)
    return JsonResponse({"token": started.token, **shown(signed_in)}, headers=NO_STORE)
