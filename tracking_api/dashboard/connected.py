"""What acts for a member: `svc login` (RFC 8628, /api/auth/device) and assistants (/api/assistants), with pages."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

from pydantic import StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import row_id
from presentation.operations import EMPTY, operation
from presentation.view import View
from storage.access import assistants, device_logins
from storage.lists.declaration import MOST, ListQuery
from storage.lists.find import find
from storage.lists.programs import PROGRAMS
from storage.rules import errors
from tracking_api.authorization import redirects
from tracking_api.dashboard.authentication import VisitorRequest, storage_of, time_of, visitor_request
from tracking_api.dashboard.pages import forms, notices, templates
from tracking_api.dashboard.pages.buttons import QUESTIONS, Button, FormOutcome, FormPage, drawn
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


@operation(errors.RateLimited)
async def start_device_login(request: Request, sent: DeviceLogin) -> DeviceCodeView:
    """Start a login of a device without a browser (RFC 8628)."""
    await request.app.state.limits.hit("login", client_of(request.scope), "device")
    pending = await storage_of(request).write(device_logins.ask, client=sent.client, at=time_of(request))
    page = f"{request.app.state.settings.base_url}/device"
    return DeviceCodeView(
        **pending._asdict(),
        verification_uri=page,
        verification_uri_complete=f"{page}/{pending.user_code}",
        expires_in=int(device_logins.LIFETIME.total_seconds()),
        interval=int(device_logins.INTERVAL.total_seconds()),
    )


@operation(errors.AuthorizationPending, errors.SlowDown, errors.AccessDenied, errors.ExpiredToken, errors.RateLimited)
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
    return templates.render(request, "device.html", visitor=call.visitor, sent=sent)


async def show_device_login(request: Request) -> Response:
    """Show the device that wants to log in. Raises NotFound for a code without a waiting login."""
    call = await visitor_request(request)
    waiting = await call.storage.read(device_logins.find, call.path_name("user_code"), at=call.at)
    return templates.render(request, "device.html", visitor=call.visitor, waiting=waiting)


async def decide_device_login(request: Request) -> Response:
    """Approve or deny the login. Raises NotFound if it was decided before or has expired."""
    call = await visitor_request(request)
    is_approved = (await forms.read_form(request)).text("decision") == "approve"
    decision: dict[str, Any] = {"user_id": call.visitor.user_id, "approved": is_approved, "at": call.at}
    await call.storage.write(device_logins.decide, call.path_name("user_code"), **decision)
    return templates.render(request, "device.html", visitor=call.visitor, decided=is_approved)


@operation()
async def list_assistants(call: VisitorRequest) -> list[assistants.Assistant]:
    """List the assistants that a member may see, newest first: their own, and all in workspaces that they own."""
    return await call.storage.read(assistants.list_assistants, call.visitor, at=call.at)


@operation(notice="assistant-disconnected")
async def disconnect_assistant(call: VisitorRequest) -> None:
    """Disconnect an assistant; its tokens stop working at once."""
    await call.storage.write(assistants.disconnect, call.path_id("assistant_id"), visitor=call.visitor, at=call.at)


async def _assistants(call: VisitorRequest, _: FormOutcome) -> dict[str, Any]:
    programs = await call.storage.read(find, PROGRAMS, call.scope, ListQuery(MOST))
    names = {program.id: program.name for program in programs.data}
    return {"connected": await list_assistants.perform(call), "names": names, "mcp_url": f"{call.base_url}/mcp"}


ASSISTANTS = FormPage(
    drawn("assistants.html", _assistants),
    Button(disconnect_assistant, then="/assistants", question=QUESTIONS["disconnect-assistant"]),
    viewer=visitor_request,
)


async def show_consent(request: Request, chosen: Collection[int] = (), problems: Mapping[str, str] = EMPTY) -> Response:
    """Show what an assistant requests. Raises NotFound for a request that is not ours or has expired."""
    call = await visitor_request(request)
    authorization = _authorization(call)
    # The form ends at the client's origin: browsers also check the redirects of a form's response.
    policy = f"{templates.POLICY} {redirects.origin(authorization.redirect_uri)}".encode()
    request.scope["extra_headers"] = ((templates.HEADERS[0][0], policy), *templates.HEADERS[1:])
    programs = (await call.storage.read(find, PROGRAMS, call.scope, ListQuery(MOST))).data
    return templates.render(
        request,
        "consent.html",
        visitor=call.visitor,
        authorization=authorization,
        is_documented=authorization.client_id.startswith("https://"),  # otherwise its name is only a claim
        returns_here=redirects.is_loopback(authorization.redirect_uri),
        leads_to=redirects.host(authorization.redirect_uri),
        programs=programs,
        chosen=chosen or ({programs[0].id} if len(programs) == 1 else set()),
        problems=problems,
    )


async def decide_consent(request: Request) -> Response:
    """Grant the request for the chosen programs, or deny it; the browser returns to the assistant's client."""
    call = await visitor_request(request)
    form = await forms.read_form(request)
    authorization = _authorization(call)
    if form.text("decision") != "allow":
        denied = {"error": "access_denied", "error_description": "The member denied access."}
        return notices.redirect(redirects.response_url(authorization, call.base_url, **denied))
    chosen = {each for sent in form.each("program") if (each := row_id(sent))}
    grant: dict[str, Any] = {"visitor": call.visitor, "program_ids": sorted(chosen), "at": call.at}
    try:
        code = await call.storage.write(assistants.connect, authorization, **grant)
    except errors.ValidationError as rejection:
        return await show_consent(request, chosen, forms.problems_of(rejection))
    return notices.redirect(redirects.response_url(authorization, call.base_url, code=code))


def _authorization(call: VisitorRequest) -> assistants.AuthorizationRequest:
    return redirects.unseal(call.path_name("sealed"), call.sealer, at=call.at)
