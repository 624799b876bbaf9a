"""Statements and summaries of months by e-mail, and the signed link that turns a kind off, also by the mailbox."""

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from configuration import Configuration
from presentation.payout_files import pdf, statement
from storage import Storage
from storage.management import portal_notices
from storage.management.portal_notices import NoticeKind
from storage.reports.statements import read_statement
from storage.rules.errors import LinkExpired
from tracking_api.dashboard import authentication, mail
from tracking_api.dashboard.authentication import storage_of, time_of
from tracking_api.dashboard.mail import Delivery
from tracking_api.dashboard.pages import text
from tracking_api.portal.portal_request import draw
from tracking_api.portal.texts import ENGLISH, Texts

PURPOSE = "e-mails of the portal"
FOR_EVER = datetime(9999, 1, 1, tzinfo=UTC)


async def send_due(store: Storage, settings: Configuration, *, at: datetime) -> int:
    """Send the statements and summaries that are due, and return how many are done; after an outage others stay due.

    One to a mailbox that does not exist is done, too. One to a mailbox that takes none now is due in the next round.
    """
    done = 0
    for list_due, send, mark in (
        (portal_notices.list_payments, partial(_send_statement, store, at=at), portal_notices.mark_payment),
        (portal_notices.list_due, _send_summary, portal_notices.mark),
    ):
        for due in await store.read(list_due, at=at):
            delivery = await send(settings, due)
            if delivery == Delivery.FAILED:
                return done
            if delivery != Delivery.PUT_OFF:
                await store.write_in(due.program_id, mark, due)
                done += 1
    return done


async def _send_statement(store: Storage, settings: Configuration, due: Any, *, at: datetime) -> Delivery:
    found = await store.read(read_statement, due.program_id, due.number, at=at)
    page = await asyncio.to_thread(statement.html, found)
    attached = (f"statement-{due.number}.pdf", await asyncio.to_thread(pdf.pdf, page))
    facts = statement.pairs(statement.parsed(page))
    about = {"program": found.program.name, "number": due.number, "facts": facts, "reference": found.line.reference}
    off = off_link(settings, due.program_id, found.line.partner_id, NoticeKind.PAYMENTS)
    return await mail.deliver(settings, found.partner_email or "", "paid", attached=attached, off=off, **about)


async def _send_summary(settings: Configuration, summary: Any) -> Delivery:
    say, link = Texts(ENGLISH), f"{settings.base_url}{authentication.PORTAL}/earnings"
    off = off_link(settings, summary.program_id, summary.partner_id, NoticeKind.SUMMARIES)
    amount, month = text.money(summary.cents, summary.currency), text.short_day(summary.month, "yMMMM")
    about = {"name": summary.name, "program": summary.program, "clicks": summary.clicks, "link": off}
    said = {part: f"mail.summary_{part}" for part in ("subject", "text", "link", "end")}
    parts = {part: say.plain(name, amount=amount, month=month, **about) for part, name in said.items()}
    return await mail.deliver(settings, summary.email, "portal", off=off, link=link, language=ENGLISH, parts=parts)


def off_link(settings: Configuration, program_id: int, partner_id: int, kind: NoticeKind) -> str:
    """Return the signed link by which a partner turns e-mails of a kind off."""
    sealed = settings.sealer().seal_until(FOR_EVER, PURPOSE, program_id, partner_id, kind)
    return f"{settings.base_url}{authentication.PORTAL}/notices/{sealed}"


async def show_button(request: Request) -> Response:
    """Show the button that turns e-mails off. Raises LinkExpired."""
    *_, kind = _opened(request)
    return draw(request, "portal/templates/notices.html", kind=kind, is_off=False)


async def turn_off(request: Request) -> Response:
    """Turn e-mails off, also for a mailbox that does it by itself (RFC 8058). Raises LinkExpired."""
    program_id, partner_id, kind = _opened(request)
    wanted: Any = {kind: False, "at": time_of(request)}
    await storage_of(request).write_in(program_id, portal_notices.change, program_id, partner_id, **wanted)
    return draw(request, "portal/templates/notices.html", kind=kind, is_off=True)


def _opened(request: Request) -> tuple[int, int, NoticeKind]:
    sealer = request.app.state.settings.sealer()
    values = sealer.open_until(time_of(request), PURPOSE, request.path_params["sealed"])
    if values is None:
        raise LinkExpired(hint="Sign in to the portal, and choose your e-mails under Account.")
    program_id, partner_id, kind = values
    return program_id, partner_id, NoticeKind(kind)
