"""The lists of payouts: the runs in which partners were paid, and the line of each partner in them."""

from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from operator import ge, lt
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, func, select

from storage.lists.declaration import Column, Filter, List, Theirs
from storage.lists.partners import named
from storage.lists.related import contains, of_partner
from storage.rules.payout import LineState, MethodKind, PayoutState
from storage.rules.untrusted import Untrusted
from storage.tables import payout_lines, payouts

_run, _line = payouts.c, payout_lines.c
SEEN_BY_PARTNERS = (
    "id created_at payout_id partner_id number state method method_masked commissions approved_cents set_off_cents"
    " adjusted_cents to_pay_cents failure corrects_id paid_on reference"
)
PAID_FROM = "Only what was paid, or came back, from this ISO 8601 date or time on."
MOVED = (LineState.OPEN, LineState.PAID, LineState.CORRECTION)  # the lines of which a payout consists


def _sum(column: Any, *states: LineState) -> Any:
    mine = (_line.program_id == _run.program_id, _line.payout_id == _run.id, _line.state.in_(states or MOVED))
    return select(func.coalesce(column, 0)).where(*mine).correlate(payouts).scalar_subquery()


def _cents(name: str, title: str = "") -> Column:
    return Column(title, _sum(func.sum(_line[name])), sorts=True, is_summed=True)


class Payout(NamedTuple):
    """A payout, in cents of the program's currency: what was approved, less what was set off, and adjustments.

    A draft freezes what was earned until `earned_until`; a sent one was paid on `paid_on`. Failed lines are in no other
    figure than `failed` and `failed_cents`. `left_out` counts the partners who stayed out, by reason.
    """

    id: int
    created_at: Annotated[datetime, Column("Drafted", is_day=True)]
    state: Annotated[PayoutState, Column("Status")]
    earned_until: Annotated[date, Column("Earned until")]
    minimum_cents: int | None
    paid_on: Annotated[date | None, Column("Paid on")]
    reference: Annotated[Untrusted | None, Column("Reference")]
    partners: Annotated[int, Column("Partners", _sum(func.count(_line.partner_id.distinct())), sorts=True)]
    commissions: Annotated[int, Column("", _sum(func.sum(_line.commissions)), sorts=True, is_summed=True)]
    approved_cents: Annotated[int, _cents("approved_cents")]
    set_off_cents: Annotated[int, _cents("set_off_cents")]
    adjusted_cents: Annotated[int, _cents("adjusted_cents")]
    to_pay_cents: Annotated[int, _cents("to_pay_cents", "To pay")]
    failed: Annotated[int, Column(sql=_sum(func.count(), LineState.FAILED))]
    failed_cents: Annotated[int, Column(sql=_sum(func.sum(_line.to_pay_cents), LineState.FAILED))]
    left_out: dict[str, int]
    created_by: Untrusted
    confirmed_by: Untrusted | None
    confirmed_at: datetime | None
    sent_by: Untrusted | None
    sent_at: datetime | None
    reopened_at: datetime | None


def _of_run(name: str) -> Any:
    theirs = (_run.program_id == _line.program_id, _run.id == _line.payout_id)
    return select(_run[name]).where(*theirs).correlate(payout_lines).scalar_subquery()


class PayoutLine(NamedTuple):
    """What a payout pays one partner, in cents of the program's currency, by their method, which is shown masked.

    `to_pay_cents` is `approved_cents` of so many `commissions`, less `set_off_cents`, which refunds of paid commissions
    left owing, and `adjusted_cents`, which the program owed besides. `number` is that of the statement. A correction
    takes back what the line `corrects_id` paid. `failure` says why a payment failed.
    """

    id: int
    created_at: datetime
    payout_id: int
    partner_id: int
    partner_name: Annotated[Untrusted, Column("Partner", of_partner(payout_lines, "name"), sorts=True)]
    partner_code: Annotated[Untrusted, Column(sql=of_partner(payout_lines, "code"))]
    method: Annotated[MethodKind | None, Column("Paid by")]
    method_masked: Untrusted | None
    commissions: Annotated[int, Column(sorts=True, is_summed=True)]
    approved_cents: Annotated[int, Column(sorts=True, is_summed=True)]
    set_off_cents: Annotated[int, Column(sorts=True, is_summed=True)]
    adjusted_cents: Annotated[int, Column(is_summed=True)]
    to_pay_cents: Annotated[int, Column("Amount", sorts=True, is_summed=True)]
    state: Annotated[LineState, Column("Status")]
    number: Annotated[int | None, Column("Statement")]
    failure: Untrusted | None
    corrects_id: int | None
    paid_on: Annotated[date | None, Column("Paid on", _of_run("paid_on"))]
    reference: Annotated[Untrusted | None, Column("Reference", _of_run("reference"))]


def _paid(compared: Callable[[Any, Any], ColumnElement[bool]], time: datetime) -> ColumnElement[bool]:
    paid = (_line.state == LineState.PAID) & compared(_of_run("paid_on"), time.date())
    return paid | ((_line.state == LineState.CORRECTION) & compared(_line.created_at, time))


PAYOUTS = List(
    "payouts",
    Payout,
    payouts,
    title="Runs",
    at=_run.created_at,
    filters=(Filter("state", PayoutState, f"One of {', '.join(PayoutState)}.", _run.state.__eq__),),
    finds="Reference",
    search=lambda _, text: contains(_run.reference, text),
)
PAYOUT_LINES = List(
    "payout-lines",
    PayoutLine,
    payout_lines,
    title="Payments",
    one="payment",
    about="The lines of payouts, one for each partner",
    at=_line.created_at,
    theirs=Theirs(_line.partner_id, SEEN_BY_PARTNERS),
    filters=(
        Filter("payout_id", int, "Only this payout's.", _line.payout_id.__eq__),
        Filter("partner_id", int, "Only this partner's.", _line.partner_id.__eq__),
        Filter("state", LineState, f"One of {', '.join(LineState)}.", _line.state.__eq__),
        Filter("method", MethodKind, f"One of {', '.join(MethodKind)}.", _line.method.__eq__),
        Filter("paid_from", datetime, PAID_FROM, partial(_paid, ge)),
        Filter("paid_to", datetime, "Only what was paid, or came back, until it.", partial(_paid, lt)),
    ),
    finds="Partner",
    search=lambda scope, text: _line.partner_id.in_(named(scope.program_id, text)),
)
