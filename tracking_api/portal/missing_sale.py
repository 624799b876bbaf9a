"""The page on which a partner asks about a sale that is missing, and sees the answers."""

from datetime import date
from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from presentation.operations import operation
from storage.lists.declaration import ListQuery
from storage.lists.find import find
from storage.lists.sale_questions import SALE_QUESTIONS
from storage.management import sale_questions
from tracking_api.dashboard.pages.buttons import Button, FormOutcome, FormPage
from tracking_api.portal.portal_request import PortalRequest, as_partner
from web.body import Body, Identifier, Text


class MissingSale(Body):
    """The day of a sale, the customer's order number, and what else the partner knows."""

    sold_on: Annotated[date, Field(strict=False)]
    transaction_id: Identifier
    note: Text | None = None


@operation(notice="sale-asked")
async def ask_about_sale(call: PortalRequest, sent: MissingSale) -> None:
    """Ask the program about a sale."""
    await call.write(sale_questions.ask, call.partner.partner_id, **dict(sent))


async def _page(call: PortalRequest, outcome: FormOutcome) -> Response:
    asked = await call.storage.read(find, SALE_QUESTIONS, call.scope, ListQuery())
    return outcome.page(call, "portal/templates/missing_sale.html", asked=asked.data)


PAGE = FormPage(_page, Button(ask_about_sale), viewer=as_partner)
