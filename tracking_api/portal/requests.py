"""What people ask of a program in the portal: to become its partner, or where a sale is that they miss."""

from datetime import date
from typing import Annotated, Any

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from presentation.api_request import valid_id
from presentation.changes import Email
from presentation.operations import operation
from presentation.settings_models import Name
from storage.lists.declaration import ListQuery
from storage.lists.find import find
from storage.lists.sale_questions import SALE_QUESTIONS
from storage.management import applications, sale_questions
from storage.rules.errors import ValidationError
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.pages import forms
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage, drawn
from tracking_api.portal.portal_request import PortalRequest, as_partner, draw
from web.body import Body, Identifier, Text
from web.limits import network_of


class NewApplication(Body):
    """Who applies, their site, and how they want to promote the program."""

    name: Name
    email: Email
    site: Name
    reason: Text | None = None


async def show_application(request: Request, **shown: Any) -> Response:
    """Show the form. Raises NotFound for a program to which no one may apply."""
    name = await storage_of(request).read(applications.program_name, valid_id(request.path_params["program_id"]))
    return draw(request, "portal/templates/apply.html", **{"program": name, "is_sent": False} | shown)


async def apply(request: Request) -> Response:
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
        return await show_application(request, problems=forms.problems_of(rejection), typed=forms.typed(form))
    return await show_application(request, is_sent=True)


class MissingSale(Body):
    """The day of a sale, the customer's order number, and what else the partner knows."""

    sold_on: Annotated[date, Field(strict=False)]
    transaction_id: Identifier
    note: Text | None = None


@operation(notice="sale-asked")
async def ask_about_sale(call: PortalRequest, sent: MissingSale) -> None:
    """Ask the program about a sale."""
    await call.write(sale_questions.ask, call.partner.partner_id, **dict(sent))


async def _questions(call: PortalRequest, _: FormOutcome) -> dict[str, Any]:
    asked = await call.storage.read(find, SALE_QUESTIONS, call.scope, ListQuery())
    return {"asked": asked.data}


MISSING_SALE = FormPage(
    drawn("portal/templates/missing_sale.html", _questions), Button(ask_about_sale), viewer=as_partner
)
