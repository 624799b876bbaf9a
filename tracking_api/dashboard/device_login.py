"""`svc login` gets a session (RFC 8628): POST /api/auth/device and .../token, and the page that approves it."""

from typing import Annotated, Any

from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from presentation.operations import operation
from presentation.view import View
from storage.access import device_logins
from storage.access.device_logins import INTERVAL, LIFETIME
from storage.rules.errors import AccessDenied, AuthorizationPending, ExpiredToken, RateLimited, SlowDown
from tracking_api.dashboard.authentication import VisitorRequest, storage_of, time_of, visitor_request
from tracking_api.dashboard.pages import forms, notices, templates
from tracking_api.dashboard.sessions import NewSessionView, new_session
from web.body import Body, Identifier
from web.limits import client_of


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


@operation(RateLimited)
async def start_device_login(request: Request, sent: DeviceLogin) -> DeviceCodeView:
    """Start a login of a device without a browser (RFC 8628)."""
    await request.app.state.limits.hit("login", client_of(request.scope), "device")
    pending = await storage_of(request).write(device_logins.ask, client=sent.client, at=time_of(request))
    page = f"{request.app.state.settings.base_url}/device"
    return DeviceCodeView(
        **pending._asdict(),
        verification_uri=page,
        verification_uri_complete=f"{page}/{pending.user_code}",
        expires_in=int(LIFETIME.total_seconds()),
        interval=int(INTERVAL.total_seconds()),
    )


@operation(AuthorizationPending, SlowDown, AccessDenied, ExpiredToken, RateLimited)
async def poll_device_login(request: Request, sent: DeviceToken) -> NewSessionView:
    """Return the session's token once a member has approved the login."""
    async with request.app.state.limits.guessing(client_of(request.scope)):
        started = await storage_of(request).write(device_logins.poll, sent.device_code, at=time_of(request))
    return await new_session(request, started)


async def enter_device_code(request: Request) -> Response:
    """Show the form for the terminal's code; a code in the query leads to its page."""
    call = await visitor_request(request)
    sent = request.query_params.get("code", "").strip().upper()
    if len(sent) == len("XXXX-XXXX") and sent.replace("-", "", 1).isalpha():
        return notices.redirect(f"/device/{sent}")
    return _page(call, sent=sent)


async def show_device_login(request: Request) -> Response:
    """Show the device that wants to log in. Raises NotFound for a code without a waiting login."""
    call = await visitor_request(request)
    return _page(call, waiting=await call.storage.read(device_logins.find, call.path_name("user_code"), at=call.at))


async def decide_device_login(request: Request) -> Response:
    """Approve or deny the login. Raises NotFound if it was decided before or has expired."""
    call = await visitor_request(request)
    is_approved = (await forms.read_form(request)).text("decision") == "approve"
    decision: dict[str, Any] = {"user_id": call.visitor.user_id, "approved": is_approved, "at": call.at}
    await call.storage.write(device_logins.decide, call.path_name("user_code"), **decision)
    return _page(call, is_approved=is_approved)


def _page(call: VisitorRequest, *, waiting: Any = None, is_approved: bool | None = None, sent: str = "") -> Response:
    shown: dict[str, Any] = {"visitor": call.visitor, "waiting": waiting, "decided": is_approved, "sent": sent}
    return templates.render(call.request, "device.html", **shown)
