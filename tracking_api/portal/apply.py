"""The public page on which people apply to become partners of a program, if it has one."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import valid_id
from presentation.changes import Email
from presentation.settings_models import Name
from storage.management import applications
from storage.rules.errors import ValidationError
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms
from tracking_api.portal.portal_request import draw
from web.body import Body, Text
from web.limits import network_of


class NewApplication(Body):
    """Who applies, their site, and how they want to promote the program."""

    name: Name
    email: Email
    site: Name
    reason: Text | None = None


async def show_form(request: Request, **shown: Any) -> Response:
    """Show the form. Raises NotFound for a program to which no one may apply."""
    name = await storage_of(request).read(applications.program_name, valid_id(request.path_params["program_id"]))
    return draw(request, "portal/templates/apply.html", **{"program": name, "is_sent": False} | shown)


async def send(request: Request) -> Response:
    """Apply; the response is the same for who has applied before. Raises RateLimited, NotFound."""
    form = await forms.read_open_form(request, "the page")
    program_id = valid_id(request.path_params["program_id"])
    await request.app.state.limits.hit("login", network_of(request), f"apply {program_id}")
    try:
        sent = forms.parsed(form, NewApplication)
        await storage_of(request).write_in(
            program_id, applications.apply, program_id, **dict(sent), at=time_of(request)
        )
    except ValidationError as rejection:
        return await show_form(request, problems=forms.problems_of(rejection), typed=forms.typed(form))
    return await show_form(request, is_sent=True)
