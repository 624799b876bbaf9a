"""E-mail to partners who were paid, with their statement as PDF; it is sent after the response."""

import asyncio

from presentation.api_request import ApiRequest
from presentation.payout_files import pdf, statement
from storage.reports.statements import list_numbers, read_statement
from tracking_api.dashboard import mail


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
    if not found.partner_email:
        return True
    written = statement.written(found)
    content = await asyncio.to_thread(pdf.pdf, written)
    about = {"program": found.program.name, "statement": written, "reference": found.line.reference}
    attached = (f"statement-{number}.pdf", content)
    return await mail.send(call.request, found.partner_email, "paid", attached=attached, **about)
