"""The list of payables: what each partner is owed, and whether the next payout pays them, or why not."""

from collections.abc import Collection
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, and_, case, func, null, select, true

from storage.lists import balances
from storage.lists.declaration import NOW, PROGRAM, UNTIL, Column, Filter, List, Theirs
from storage.lists.find import EARNED_UNTIL
from storage.lists.partners import has
from storage.rules.commission import CommissionStatus
from storage.rules.payout import LineState, MethodKind, PayableReason
from storage.rules.periods.period import Window
from storage.rules.untrusted import Untrusted
from storage.tables import partners, payout_lines, payout_methods, programs

_method = payout_methods.c
SEEN_BY_PARTNERS = (
    "id created_at name code method method_masked method_held_until minimum_cents pending_cents flagged_cents"
    " ready_cents to_pay_cents owed_back_cents paid_cents payable reason"
)
METHOD = (_method.kind, _method.sealed, _method.masked, _method.changed_at)


class DuePartner(NamedTuple):
    """What a payout would pay a partner in cents, what they owe (negative) or are owed besides, and by which method."""

    id: int
    approved_cents: int
    settled_cents: int
    reason: str | None
    method: str | None = None
    method_sealed: str | None = None
    method_masked: str | None = None
    method_changed_at: datetime | None = None
    on_hold_cents: int = 0


class Due(NamedTuple):
    """What partners are due, as columns, and the tables that these are of."""

    source: FromClause
    pending_cents: ColumnElement[Any]
    flagged_cents: ColumnElement[Any]
    ready_cents: ColumnElement[Any]
    approved_cents: ColumnElement[Any]
    settled_cents: ColumnElement[Any]
    to_pay_cents: ColumnElement[Any]
    paid_cents: ColumnElement[Any]
    minimum_cents: ColumnElement[Any]
    reason: ColumnElement[Any]
    commissions: ColumnElement[Any]


def due(earned_until: Any = None, minimum_cents: int | None = None) -> Due:
    """Return what is due of what was earned before a time, if one is given; a minimum replaces the program's."""
    by_figure = balances.summed_by_figure(earned_until).subquery()
    figures = {"on_hold": "on_hold", "ready": CommissionStatus.PENDING, "approved": CommissionStatus.APPROVED}
    figures |= {"flagged": "flagged", "settled": "settled"}
    sums = [
        func.sum(case((by_figure.c.figure == figure, by_figure.c.cents), else_=0)).label(name)
        for name, figure in figures.items()
    ]
    is_approved = by_figure.c.figure == CommissionStatus.APPROVED
    sums += [(-func.sum(by_figure.c.paid_cents)).label("paid")]
    sums += [func.sum(case((is_approved, by_figure.c.commissions), else_=0)).label("commissions")]
    each = select(by_figure.c.partner_id, *sums).group_by(by_figure.c.partner_id).subquery("due")
    on_hold, ready, approved, flagged, settled, paid, commissions = (
        func.coalesce(column, 0) for column in list(each.c)[1:]
    )
    to_pay = case((approved + settled > 0, approved + settled), else_=0)
    of_program = select(programs.c.minimum_payout_cents).where(programs.c.id == PROGRAM).scalar_subquery()
    minimum = func.coalesce(partners.c.minimum_payout_cents, of_program if minimum_cents is None else minimum_cents)
    theirs = and_(_method.program_id == partners.c.program_id, _method.partner_id == partners.c.id)
    source = partners.outerjoin(each, each.c.partner_id == partners.c.id).outerjoin(payout_methods, theirs)
    reason = case(
        (_in_draft(), PayableReason.IN_DRAFT),
        ((to_pay == 0) & (settled < 0), PayableReason.OWES_BACK),
        ((to_pay == 0) & (flagged > 0), PayableReason.HELD),
        (to_pay == 0, PayableReason.NOTHING_TO_PAY),
        (to_pay < minimum, PayableReason.BELOW_MINIMUM),
        (_method.kind.is_(None), PayableReason.NEEDS_METHOD),
        (_method.held_until > NOW, PayableReason.METHOD_ON_HOLD),
        else_=null(),
    )
    return Due(source, on_hold + ready, flagged, ready, approved, settled, to_pay, paid, minimum, reason, commissions)


def _in_draft() -> ColumnElement[bool]:
    line = payout_lines.c
    theirs = (line.program_id == partners.c.program_id, line.partner_id == partners.c.id, line.state == LineState.OPEN)
    return select(line.id).where(*theirs).correlate(partners).exists()


_due = due(UNTIL)


def _at_least_0(cents: ColumnElement[Any]) -> ColumnElement[Any]:
    return case((cents > 0, cents), else_=0)


_set_off = case(
    (_due.approved_cents + _due.settled_cents > 0, _at_least_0(-_due.settled_cents)), else_=_due.approved_cents
)


def _figure(title: str, sql: ColumnElement[Any]) -> Column:
    return Column(title, sql, sorts=True, is_summed=True)


class Payable(NamedTuple):
    """A partner, what they are owed in cents of the program's currency, and whether the next payout pays them.

    `pending_cents` waits for the end of its hold, or for a decision (`ready_cents`). `flagged_cents`, which flags hold,
    is in no other figure. `to_pay_cents` is what is approved, `commissions` and what the program owes besides, less
    `owed_back_cents`, of which a payout would set `set_off_cents` off. `reason` says why a partner is not
    `payable` now. `method_masked` is how they are paid; a payout to a new method waits until `method_held_until`.
    """

    id: int
    created_at: datetime
    name: Annotated[Untrusted, Column("Partner", sorts=True)]
    code: Untrusted
    method: Annotated[MethodKind | None, Column("Pays by", _method.kind)]
    method_masked: Annotated[Untrusted | None, Column(sql=_method.masked)]
    method_held_until: Annotated[datetime | None, Column(sql=_method.held_until)]
    minimum_cents: Annotated[int, Column(sql=_due.minimum_cents)]
    pending_cents: Annotated[int, _figure("", _due.pending_cents)]
    flagged_cents: Annotated[int, _figure("", _due.flagged_cents)]
    ready_cents: Annotated[int, _figure("", _due.ready_cents)]
    commissions: Annotated[int, Column("Commissions", _due.commissions, sorts=True, is_summed=True)]
    approved_cents: Annotated[int, _figure("Approved", _due.approved_cents + _at_least_0(_due.settled_cents))]
    set_off_cents: Annotated[int, _figure("Set off", _set_off)]
    to_pay_cents: Annotated[int, _figure("To pay", _due.to_pay_cents)]
    owed_back_cents: Annotated[int, _figure("", _at_least_0(-_due.settled_cents))]
    paid_cents: Annotated[int, _figure("", _due.paid_cents)]
    payable: Annotated[bool, Column(sql=case((_due.reason.is_(None), 1), else_=0))]
    reason: Annotated[PayableReason | None, Column("Status", _due.reason)]


PAYABLES = List(
    "payables",
    "To pay",
    "partner",
    "What partners are owed, and whom the next payout pays",
    Payable,
    partners,
    source=_due.source,
    theirs=Theirs(partners.c.id, SEEN_BY_PARTNERS),
    filters=(
        Filter(
            "payable",
            bool,
            "true: only those whom the next payout pays; false: all others.",
            lambda is_payable: _due.reason.is_(None) if is_payable else _due.reason.is_not(None),
        ),
        Filter("reason", PayableReason, f"Why they are not paid now: {', '.join(PayableReason)}.", _due.reason.__eq__),
        Filter(
            EARNED_UNTIL,
            datetime,
            "Of what is approved, only what was earned before this ISO 8601 time.",
            lambda _: true(),
        ),
        Filter("method", MethodKind, f"How they are paid: {', '.join(MethodKind)}.", _method.kind.__eq__),
    ),
    finds="Name, code or e-mail address",
    search=lambda _, text: has(text),
)


def read_due(
    connection: Connection,
    program_id: int,
    *,
    earned_until: date,
    minimum_cents: int | None,
    partner_ids: Collection[int] | None,
    at: datetime,
) -> list[DuePartner]:
    """Return what a payout would pay each partner, or each of some, of what they earned until a day, or why not."""
    found = due(Window(earned_until, earned_until).span.until, minimum_cents)
    some = () if partner_ids is None else (partners.c.id.in_(partner_ids),)
    on_hold_cents = found.pending_cents - found.ready_cents
    columns = (partners.c.id, found.approved_cents, found.settled_cents, found.reason, *METHOD, on_hold_cents)
    mine = select(*columns).select_from(found.source).where(partners.c.program_id == program_id, *some)
    rows = connection.execute(mine.order_by(partners.c.id).params(program_id=program_id, now=at))
    return [
        DuePartner._make([partner_id, int(approved), int(settled), *more, int(on_hold)])
        for partner_id, approved, settled, *more, on_hold in rows
    ]
