"""What partners see: balance, link, this month and what happened last; links to a page; earnings and payments."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from presentation.payout_files import pdf, statement
from storage.lists.declaration import ListQuery
from storage.reports import portal
from storage.reports.statements import read_statement
from storage.rules.errors import NotFound
from tracking_api.dashboard.pages.buttons import FormOutcome
from tracking_api.dashboard.pages.partners import asked_link, qr_image
from tracking_api.portal.portal_request import as_partner

PER_PAGE = 20


async def show_home(request: Request) -> Response:
    """Show the first page."""
    call = await as_partner(request)
    home = await call.storage.read(portal.read_home, call.scope)
    return FormOutcome().page(call, "portal/templates/home.html", home=home)


async def show_statement(request: Request) -> Response:
    """Return the partner's statement of a payment as PDF. Raises NotFound, also for another partner's."""
    call = await as_partner(request)
    number = call.path_id("number")
    found = await call.read(read_statement, number, at=call.at)
    if found.line.partner_id != call.partner.partner_id:
        raise NotFound
    content = await asyncio.to_thread(lambda: pdf.pdf(statement.html(found)))
    headers = {"Content-Disposition": f'inline; filename="statement-{number}.pdf"'}
    return Response(content, media_type="application/pdf", headers=headers)


async def show_links(request: Request) -> Response:
    """Show the partner's link, or their link to a page with a campaign tag, with its QR code."""
    call = await as_partner(request)
    link, asked, problems = asked_link(request, call.partner.domain, call.partner.code)
    return FormOutcome(problems, asked).page(call, "portal/templates/links.html", link=link)


async def show_qr_code(request: Request) -> Response:
    """Return the QR code of a link. Raises ValidationError."""
    call = await as_partner(request)
    return qr_image(request, call.partner.domain, call.partner.code)


async def show_earnings(request: Request) -> Response:
    """Show what was earned by month and state, a page of a month's earnings, and payments. Raises ValidationError."""
    call, sent = await as_partner(request), request.query_params
    month = portal.month_of(sent.get("month", ""), call.at)
    query = ListQuery(PER_PAGE, sent.get("cursor") or None, span=month.span)
    months, page, payments = await call.storage.read(portal.read_earnings, call.scope, query)
    return FormOutcome().page(
        call, "portal/templates/earnings.html", months=months, month=month.first, page=page, payments=payments
    )
