"""The page on which a member approves `svc login`: compare the code, then connect it or cancel."""

from starlette.requests import Request
from starlette.responses import Response

from storage.access import device_logins
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, templates
from tracking_api.dashboard.pages.page import redirect

PATH = "/device"


async def enter_device_code(request: Request) -> Response:
    """Show the form for the terminal's code; a code in the query leads to its page."""
    visitor = await authentication.visitor(request)
    sent = request.query_params.get("code", "").strip().upper()
    if len(sent) == len("XXXX-XXXX") and sent.replace("-", "", 1).isalpha():
        return redirect(f"{PATH}/{sent}")
    return templates.render(request, "device.html", visitor=visitor, waiting=None, decided=None, sent=sent)


async def show_device_login(request: Request) -> Response:
    """Show the device that wants to log in. Raises NotFound for a code without a waiting login."""
    visitor = await authentication.visitor(request)
    code = request.path_params["user_code"]
    waiting = await storage_of(request).read(device_logins.find, code, at=time_of(request))
    return templates.render(request, "device.html", visitor=visitor, waiting=waiting, decided=None, sent="")


async def decide_device_login(request: Request) -> Response:
    """Approve or deny the login. Raises NotFound if it was decided before or has expired."""
    visitor = await authentication.visitor(request)
    form = await forms.read_form(request)
    approved = form.text("decision") == "approve"
    await storage_of(request).write(
        device_logins.decide,
        request.path_params["user_code"],
        user_id=visitor.user_id,
        approved=approved,
        at=time_of(request),
    )
    return templates.render(request, "device.html", visitor=visitor, waiting=None, decided=approved, sent="")
