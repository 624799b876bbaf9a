"""The home page at `/`, and the set-up page of an empty server, opened by the code that `svc serve` printed once."""

import hmac
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation.changes import Code, Email
from presentation.settings_models import Currency, Host, Name
from storage.access import workspaces
from storage.management import program_settings
from storage.rules import keys
from storage.rules.errors import CurrencyNotSupported, Forbidden, NotFound, ValidationError
from storage.rules.settings import ProgramSettings
from tracking_api.dashboard import authentication
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms, notices, templates, values
from tracking_api.dashboard.pages.forms import Problems
from tracking_api.dashboard.pages.sign_in import let_in
from tracking_api.dashboard.sessions import hash_of_new
from web.body import Body
from web.limits import network_of


class SetUpForm(Body):
    """The fields of the form, without the password."""

    email: Email
    workspace_name: Name
    program_name: Name
    domain: Host
    currency: Currency
    partner_name: Name
    partner_code: Code


async def show_home(request: Request) -> Response:
    """Show the home page, or how to set up an empty server; redirect a signed-in visitor to their programs."""
    try:
        await authentication.visitor(request)
    except Forbidden:
        if not await storage_of(request).read(workspaces.exist):
            return templates.render(request, "set_up_needed.html")
        return templates.render(request, "home.html")
    return notices.redirect("/programs")


async def show_set_up(request: Request) -> Response:
    """Show the form; opening it does not use the code up. Raises Forbidden, RateLimited, NotFound."""
    await _require_code(request, request.query_params.get("code", ""))
    typed = {"code": request.query_params["code"], "currency": "USD"}
    return templates.render(request, "set_up.html", typed=typed, problems=Problems())


async def set_up(request: Request) -> Response:
    """Create the workspace, sign its owner in and show the program's key once; errors appear beside their fields.

    Raises Forbidden, RateLimited, NotFound.
    """
    form, problems = await forms.read_open_form(request, "the link"), Problems()
    await _require_code(request, form.text("code"))
    try:
        fields = values.parsed(form, SetUpForm)
    except ValidationError as rejection:
        problems |= Problems.of(rejection)
    try:
        password_hash = await hash_of_new(request, forms.chosen_password(form), email=form.text("email"))
        if not problems:
            chosen = ProgramSettings(fields.program_name, fields.domain, fields.currency)
            about: dict[str, Any] = {"workspace": fields.workspace_name, "email": fields.email, "at": time_of(request)}
            about |= {"password_hash": password_hash, "client": request.headers.get("user-agent")}
            about["partner"] = {"name": fields.partner_name, "code": fields.partner_code}
            program_id, key, session = await storage_of(request).write(program_settings.set_up, chosen, **about)
    except (ValidationError, CurrencyNotSupported) as rejection:
        problems |= Problems.of(rejection)
    if problems:
        return templates.render(request, "set_up.html", typed=forms.typed(form), problems=problems)
    response = templates.render(request, "set_up_done.html", program_id=program_id, key=key, name=chosen.name)
    return let_in(request, response, session, fields.email.lower())


async def _require_code(request: Request, code: str) -> None:
    """Raise Forbidden on a server with a workspace, and NotFound without the code; wrong codes are limited."""
    if await storage_of(request).read(workspaces.exist):
        raise Forbidden("This server is set up already.")
    limits, client = request.app.state.limits, network_of(request)
    await limits.check("set_up", client)
    if not hmac.compare_digest(keys.digest(code), keys.digest(request.app.state.settings.set_up_code())):
        await limits.hit("set_up", client)
        raise NotFound("This code does not open the set-up page.", hint="Use the code that `svc serve` prints.")
