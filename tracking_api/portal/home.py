"""What partners see: balance, link, this month and what happened last; links to a page; earnings and payments."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from presentation.operations import EMPTY
from presentation.payout_files import pdf, statement
from storage.lists.declaration import ListQuery
from storage.lists.partners import Partner
from storage.lists.payables import Payable
from storage.lists.payouts import PayoutLine
from storage.lists.programs import read_program
from storage.management import special_terms
from storage.reports import portal
from storage.reports.portal import REVIEWED, FeedEvent, FeedKind
from storage.reports.statements import read_statement
from storage.rules.commission import CommissionStatus, CommissionType
from storage.rules.errors import NotFound, ValidationError
from storage.rules.payout import LineState, PayableReason
from tracking_api.dashboard.pages import forms, text
from tracking_api.dashboard.pages.buttons import FormOutcome
from tracking_api.dashboard.pages.partners import LINK, link_of, qr_image
from tracking_api.portal.portal_request import PortalRequest, as_partner
from tracking_api.portal.texts import Texts, texts_for

PER_PAGE = 20
STATES = (CommissionStatus.PENDING, REVIEWED, CommissionStatus.APPROVED, CommissionStatus.PAID)
SPARK_WIDTH, SPARK_HEIGHT = 620, 180


async def show_home(request: Request) -> Response:
    """Show the first page."""
    call = await as_partner(request)
    shows_amounts = call.partner.shows_amounts
    home = await call.storage.read(portal.read_home, call.scope, shows_amounts=shows_amounts)
    say = texts_for(request)
    return FormOutcome().page(
        call,
        "portal/templates/home.html",
        due=home.due,
        holds=home.holds,
        when=_when(say, home.due, call),
        link=home.partner.link,
        terms=await _terms(say, call, home.partner),
        first=home.days[0][0],
        last=home.days[-1][0],
        month=home.month._asdict(),
        spark=_spark([totals.clicks for _, totals in home.days]),
        events=_in_words(say, home.latest, call),
    )


def _when(say: Texts, due: Payable, call: PortalRequest) -> str:
    """Return when the balance is paid, or what it waits for."""
    method = f"{say(f'method.{due.method}')} {due.method_masked}" if due.method else ""
    until = text.short_day(due.method_held_until.date()) if due.method_held_until else ""
    minimum = text.money(due.minimum_cents, call.currency)
    reason = due.reason or "next"
    if due.reason == PayableReason.NOTHING_TO_PAY and not due.method:
        reason = PayableReason.NEEDS_METHOD
    return say(f"when.{reason}", method=method, until=until, minimum=minimum)


async def _terms(say: Texts, call: PortalRequest, partner: Partner) -> str:
    """Return the terms that apply to the partner in a sentence for each thing that earns."""
    terms = special_terms.settings_of((await call.read(read_program)).settings, partner.terms)
    is_percent = terms.commission_type == CommissionType.PERCENT
    rate = text.percentage(terms.rate / 100) if is_percent else text.money(terms.rate, call.currency)
    months = terms.recurring_months
    later = f"{'' if is_percent else 'flat_'}{'life' if months is None else 'months' if months else 'first'}"
    sentences = [say(f"terms.{later}", rate=rate, months=months)] if terms.rate else []
    if terms.lead_commission_cents:
        sentences.append(say("terms.lead", amount=text.money(terms.lead_commission_cents, call.currency)))
    if terms.minimum_order_cents:
        sentences.append(say("terms.minimum", amount=text.money(terms.minimum_order_cents, call.currency)))
    return " ".join(sentences)


def _spark(counts: list[int]) -> str:
    """Return the points of a line through the counts of days; empty for one day, or nothing."""
    most = max(counts)
    if len(counts) == 1 or not most:
        return ""
    step = SPARK_WIDTH / (len(counts) - 1)
    return " ".join(
        f"{n * step:.0f},{SPARK_HEIGHT - each * (SPARK_HEIGHT - 10) / most:.0f}" for n, each in enumerate(counts)
    )


def _in_words(say: Texts, events: Iterable[FeedEvent], call: PortalRequest) -> list[dict[str, Any]]:
    """Return events as the feed shows them: a title, and the reason why it counts, will count or does not."""
    shown = []
    for each in events:
        line = each.line
        until = text.short_day(each.until) if each.until else ""
        title = say(
            f"feed.{each.kind}", until=until, method=say(f"method.{line.method}") if line and line.method else ""
        )
        if each.sale_cents is not None:
            title = say("feed.sale_of", amount=text.money(each.sale_cents, call.currency))
        if line:
            title = title if line.method else say("feed.payment_by_hand")
            reason = say(
                f"payments.{line.state}", reference=line.reference or "", failure=text.plain(line.failure or "")
            )
        else:
            reason = say(f"reasons.{each.state}", until=until)
        sign = "+" if each.kind != FeedKind.PAYMENT and (each.cents or 0) > 0 else ""
        amount = None if each.cents is None else sign + text.money(each.cents, call.currency)
        shown.append({"at": each.at, "title": title, "reason": reason, "amount": amount, "href": _statement(line)})
    return shown


def _statement(line: PayoutLine | None) -> str | None:
    """Return the path of a payment's statement; None without one."""
    return f"/portal/statements/{line.number}" if line and line.number and line.state == LineState.PAID else None


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
    asked = {name: request.query_params.get(name, "").strip() for name in LINK}
    problems: Mapping[str, str] = EMPTY
    try:
        link = link_of(call.partner.domain, call.partner.code, **asked)
    except ValidationError as rejection:
        link, problems = link_of(call.partner.domain, call.partner.code), forms.problems_of(rejection)
    return FormOutcome(problems, asked).page(call, "portal/templates/links.html", link=link)


async def show_qr_code(request: Request) -> Response:
    """Return the QR code of a link. Raises ValidationError."""
    call = await as_partner(request)
    asked = (request.query_params.get(name, "") for name in LINK)
    return qr_image(link_of(call.partner.domain, call.partner.code, *asked), call.partner.code)


async def show_earnings(request: Request) -> Response:
    """Show what was earned by month and state, a page of a month's earnings, and payments. Raises ValidationError."""
    call, sent = await as_partner(request), request.query_params
    month = portal.month_of(sent.get("month", ""), call.at)
    query = ListQuery(PER_PAGE, sent.get("cursor") or None, span=month.span)
    shows_amounts = call.partner.shows_amounts
    read = portal.read_earnings
    months, events, page = await call.storage.read(read, call.scope, query, shows_amounts=shows_amounts)
    say = texts_for(request)
    return FormOutcome().page(
        call,
        "portal/templates/earnings.html",
        months=months,
        states=STATES,
        events=_in_words(say, events, call),
        next_cursor=page.next_cursor,
        more=f"?month={month.first:%Y-%m}&cursor={page.next_cursor}",
        payments=_in_words(say, await call.storage.read(portal.list_payments, call.scope), call),
    )
