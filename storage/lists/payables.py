"""The list of payables: what each partner is owed, and whether the next payout pays them, or why not."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, FromClause, Select, and_, case, func, null, select, true

from storage.lists import balances
from storage.lists.declaration import NOW, PROGRAM, UNTIL, Column, Filter, List, Theirs
from storage.lists.find import EARNED_UNTIL
from storage.lists.partners import has
from storage.rules.payout import LineState, MethodKind, PayableReason
from storage.rules.periods.period import Window
from storage.rules.untrusted import Untrusted
from storage.tables import ledger_entries, partners, payout_lines, payout_methods, programs

_method = payout_methods.c
SEEN_BY_PARTNERS = (
    "id created_at name code method method_masked method_held_until minimum_cents pending_cents flagged_cents"
    " ready_cents to_pay_cents owed_back_cents paid_cents payable reason"
)
_METHOD = (_method.kind, _method.sealed, _method.masked, _method.changed_at)


class DuePartner(NamedTuple):
    """What a payout would pay a partner in cents, what they owe (negative) or are owed besides, and by which method."""

    id: int
    approved_cents: int
    settled_cents: int
    on_hold_cents: int
    reason: str | None
    method: str | None = None
    method_sealed: str | None = None
    method_masked: str | None = None
    method_changed_at: datetime | None = None


def due(
    earned_until: Any = None, minimum_cents: int | None = None, entries: Any = balances.EVERY
) -> tuple[FromClause, dict[str, ColumnElement[Any]]]:
    """Return the tables of what some ledger entries make partners due, and the figures of it as columns, by name.

    Of what is approved, only what was earned before a time is due, if one is given. A minimum replaces the program's.
    """
    theirs, figures = balances.summed(earned_until, entries)
    to_pay = figures["to_pay_cents"]
    of_program = select(programs.c.minimum_payout_cents).where(programs.c.id == PROGRAM).scalar_subquery()
    minimum = func.coalesce(partners.c.minimum_payout_cents, of_program if minimum_cents is None else minimum_cents)
    paid_by = and_(_method.program_id == partners.c.program_id, _method.partner_id == partners.c.id)
    source = partners.outerjoin(theirs, theirs.c.partner_id == partners.c.id).outerjoin(payout_methods, paid_by)
    reason = case(
        (_in_draft(), PayableReason.IN_DRAFT),
        ((to_pay == 0) & (figures["settled_cents"] < 0), PayableReason.OWES_BACK),
        ((to_pay == 0) & (figures["flagged_cents"] > 0), PayableReason.HELD),
        (to_pay == 0, PayableReason.NOTHING_TO_PAY),
        (to_pay < minimum, PayableReason.BELOW_MINIMUM),
        (_method.kind.is_(None), PayableReason.NEEDS_METHOD),
        (_method.held_until > NOW, PayableReason.METHOD_ON_HOLD),
        else_=null(),
    )
    return source, figures | {"minimum_cents": minimum, "reason": reason}


def _in_draft() -> ColumnElement[bool]:
    line = payout_lines.c
    theirs = (line.program_id == partners.c.program_id, line.partner_id == partners.c.id, line.state == LineState.OPEN)
    return select(line.id).where(*theirs).correlate(partners).exists()


_source, _due = due(UNTIL)
_reason = _due["reason"]
_is_payable = _reason.is_(None)
_set_off = case((_due["to_pay_cents"] > 0, _due["owed_back_cents"]), else_=_due["commission_cents"])


def _figure(name: str, title: str = "") -> Column:
    return Column(title, _due[name], sorts=True, is_summed=True)


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
    minimum_cents: Annotated[int, Column(sql=_due["minimum_cents"])]
    pending_cents: Annotated[int, _figure("pending_cents")]
    flagged_cents: Annotated[int, _figure("flagged_cents")]
    ready_cents: Annotated[int, _figure("ready_cents")]
    commissions: Annotated[int, _figure("commissions", "Commissions")]
    approved_cents: Annotated[int, _figure("approved_cents", "Approved")]
    set_off_cents: Annotated[int, Column("Set off", _set_off, sorts=True, is_summed=True)]
    to_pay_cents: Annotated[int, _figure("to_pay_cents", "To pay")]
    owed_back_cents: Annotated[int, _figure("owed_back_cents")]
    paid_cents: Annotated[int, _figure("paid_cents")]
    payable: Annotated[bool, Column(sql=_is_payable)]
    reason: Annotated[PayableReason | None, Column("Status", _reason)]


PAYABLES = List(
    "payables",
    Payable,
    partners,
    title="To pay",
    one="partner",
    about="What partners are owed, and whom the next payout pays",
    source=_source,
    theirs=Theirs(partners.c.id, SEEN_BY_PARTNERS),
    filters=(
        Filter("payable", bool, "true: only those whom the next payout pays; false: all others.", _is_payable.is_),
        Filter("reason", PayableReason, f"Why they are not paid now: {', '.join(PayableReason)}.", _reason.__eq__),
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
    earned_until: date = date.max,
    minimum_cents: int | None = None,
    partner_ids: Sequence[int] | Select[Any] | None = None,
    at: datetime,
) -> list[DuePartner]:
    """Return what a payout would pay each partner of what they earned until a day, or why not.

    `partner_ids`, or the statement that selects them, are those of the only partners to read.
    """
    some = [] if partner_ids is None else [partners.c.id.in_(partner_ids)]
    entries = balances.EVERY if partner_ids is None else ledger_entries.c.partner_id.in_(partner_ids)
    source, found = due(Window(earned_until, earned_until).span.until, minimum_cents, entries)
    of_due = [found[name] for name in ("commission_cents", "settled_cents", "on_hold_cents", "reason")]
    mine = select(partners.c.id, *of_due, *_METHOD).where(partners.c.program_id == program_id, *some)
    rows = mine.select_from(source).order_by(partners.c.id).params(program_id=program_id, now=at)
    return [DuePartner._make(row) for row in connection.execute(rows)]
