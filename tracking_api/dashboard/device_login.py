"""POST /api/auth/device and /api/auth/device/token: `svc login` gets a session (RFC 8628)."""

from typing import Annotated

from pydantic import StringConstraints
from starlette.requests import Request

from presentation.operations import operation
from presentation.view import View
from storage.access import device_logins, sessions
from storage.access.device_logins import INTERVAL, LIFETIME
from storage.rules import keys
from storage.rules.errors import AccessDenied, AuthorizationPending, ExpiredToken, RateLimited, SlowDown
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.sessions import NO_STORE, NewSessionView
from web import body
from web.body import Body, Identifier
from web.response import ModelResponse


class DeviceLogin(Body):
    """A device that wants to log in; `client` is its name."""

    client: Annotated[str, StringConstraints(max_length=255)] = "svc"


class DeviceToken(Body):
    """A device's request for the result of its login."""

    device_code: Identifier


class DeviceCodeView(View):
    """A login that waits for approval (RFC 8628, 3.2); times are in seconds."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in: int
    interval: int


@operation("Start a login of a device without a browser (RFC 8628)", RateLimited, body=DeviceLogin)
async def start_device_login(request: Request) -> ModelResponse[DeviceCodeView]:
    """Start a login: a code for the device to show, and the page on which a member approves it."""
    sent = body.parse(DeviceLogin, await body.read_body(request.scope, request.receive))
    host = request.client.host if request.client else "unknown"
    await request.app.state.limits.hit("login", host, "device")
    pending = await storage_of(request).write(device_logins.ask, client=sent.client, at=time_of(request))
    page = f"{request.app.state.settings.base_url}/device"
    started = DeviceCodeView(
        device_code=pending.device_code,
        user_code=pending.user_code,
        verification_uri=page,
        verification_uri_complete=f"{page}/{pending.user_code}",
        expires_in=int(LIFETIME.total_seconds()),
        interval=int(INTERVAL.total_seconds()),
    )
    return ModelResponse(started, NO_STORE)


@operation(
    "The session's token, once a member has approved the login",
    *(AuthorizationPending, SlowDown, AccessDenied, ExpiredToken),
    body=DeviceToken,
)
async def poll_device_login(request: Request) -> ModelResponse[NewSessionView]:
    """Return the session's token once the login is approved.

    Raises AuthorizationPending, SlowDown, AccessDenied, ExpiredToken.
    """
    sent = body.parse(DeviceToken, await body.read_body(request.scope, request.receive))
    storage, at = storage_of(request), time_of(request)
    started = await storage.write(device_logins.poll, sent.device_code, at=at)
    signed_in = await storage.read(sessions.identify, keys.digest(started.token), at=at)
    return ModelResponse(NewSessionView.of(signed_in, token=started.token), NO_STORE)
