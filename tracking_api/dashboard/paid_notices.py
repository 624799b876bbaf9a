"""E-mail to partners who were paid, with their statement as PDF; it is sent after the response."""

import asyncio

from presentation.api_request import ApiRequest
from presentation.payout_files import pdf, statement
from storage.management import portal_notices
from storage.management.portal_notices import NoticeKind
from storage.reports.statements import list_numbers, read_statement
from tracking_api.dashboard import mail
from tracking_api.portal.notices import off_link


def send_later(call: ApiRequest, payout_id: int) -> None:
    """Send each paid partner of a run who has an e-mail address their statement, one after the other."""
    if mail.is_on(call.request):
        mail.later(_send(call, payout_id))


async def _send(call: ApiRequest, payout_id: int) -> bool:
    numbers = await call.read(list_numbers, payout_id)
    sent = [await _send_one(call, number) for number in numbers]
    return all(sent)


async def _send_one(call: ApiRequest, number: int) -> bool:
    found = await call.read(read_statement, number, at=call.at)
    partner_id = found.line.partner_id
    wanted = await call.read(portal_notices.list_wanted, partner_id)
    if not found.partner_email or NoticeKind.PAYMENTS not in wanted:
        return True
    page = await asyncio.to_thread(statement.html, found)
    content = await asyncio.to_thread(pdf.pdf, page)
    facts = statement.pairs(statement.parsed(page))
    about = {"program": found.program.name, "number": number, "facts": facts, "reference": found.line.reference}
    attached = (f"statement-{number}.pdf", content)
    off = off_link(call.request.app.state.settings, call.program_id, partner_id, NoticeKind.PAYMENTS)
    return await mail.send(call.request, found.partner_email, "paid", attached=attached, off=off, **about)
