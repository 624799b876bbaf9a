"""What the pages of payouts show besides lists, and the payments of a payout, whose details are still encrypted."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.lists.balances import Hold, next_holds
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find, get
from storage.lists.payables import PAYABLES, read_due
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS, Payout
from storage.lists.programs import Program, read_program
from storage.management import payout_sending
from storage.management.commission_decisions import Waiting
from storage.rules.payout import LineState, MethodKind, PayableReason, PayoutState, owed
from storage.tables import commissions, partners, payout_items, payout_lines, payouts

_NOT_BLOCKED = {None, PayableReason.NOTHING_TO_PAY, PayableReason.IN_DRAFT}


class SealedPayment(NamedTuple):
    """What a line pays a partner in cents, by a method (None: they have none) with encrypted details."""

    line_id: int
    partner_name: str
    partner_code: str
    cents: int
    method: MethodKind | None
    sealed: str | None


class PayoutPayments(NamedTuple):
    """A payout, its program, and its payments, oldest line first."""

    payout: Payout
    program: Program
    payments: Sequence[SealedPayment]


def read_payments(connection: Connection, program_id: int, payout_id: int, *, at: datetime) -> PayoutPayments:
    """Return what a payout pays, without what failed or pays nothing. Raises NotFound."""
    payout = get(connection, PAYOUTS, ListScope(program_id, at), payout_id)
    line, partner = payout_lines.c, partners.c
    theirs = (partner.program_id == line.program_id) & (partner.id == line.partner_id)
    mine = (line.program_id == program_id, line.payout_id == payout_id)
    pays = (line.state.in_((LineState.OPEN, LineState.PAID)), line.to_pay_cents > 0)
    named = select(line.id, partner.name, partner.code, line.to_pay_cents, line.method, line.method_sealed)
    rows = connection.execute(named.join_from(payout_lines, partners, theirs).where(*mine, *pays).order_by(line.id))
    payments = [
        SealedPayment(line_id, name, code, cents, MethodKind(method) if method else None, sealed)
        for line_id, name, code, cents, method, sealed in rows
    ]
    return PayoutPayments(payout, read_program(connection, program_id), payments)


class PayoutSummary(NamedTuple):
    """What a payout would pay now, and what it cannot, with the draft, the last payout, and what the year's have paid.

    `held_cents` is on hold in all (None: too many partners to add up), and `next_hold` the first that ends.
    """

    ready: Waiting
    blocked: Waiting
    held_cents: int | None
    next_hold: Hold | None
    draft: Payout | None
    last: Payout | None
    paid_cents: int


class PayoutChecks(NamedTuple):
    """What to know before a draft is sent: its lines that changed, and commissions approved before their hold ended."""

    changed: int
    early: int


def read_summary(connection: Connection, program_id: int, earned_until: date, *, at: datetime) -> PayoutSummary:
    """Return what a program's next payout would pay of what was earned until a day, and what was paid this year."""
    scope = ListScope(program_id, at)
    every = read_due(connection, program_id, earned_until=earned_until, minimum_cents=None, partner_ids=None, at=at)
    due = [(each.reason, owed(each.approved_cents, each.settled_cents).to_pay_cents) for each in every]
    blocked = [cents for reason, cents in due if reason not in _NOT_BLOCKED]
    ready = [cents for reason, cents in due if reason is None]
    figures = find(connection, PAYABLES, scope, ListQuery(1, has_totals=True)).totals
    year = {"paid_from": datetime(at.year, 1, 1, tzinfo=UTC)}
    paid = find(connection, PAYOUT_LINES, scope, ListQuery(1, filters=year, has_totals=True)).totals
    draft, last = (
        find(connection, PAYOUTS, scope, ListQuery(1, filters={"state": state})).data
        for state in (PayoutState.DRAFT, PayoutState.SENT)
    )
    return PayoutSummary(
        Waiting(len(ready), sum(ready)),
        Waiting(len(blocked), sum(blocked)),
        figures["pending_cents"] - figures["ready_cents"] if figures else None,
        next(iter(next_holds(connection, program_id, at=at)), None),
        draft[0] if draft else None,
        last[0] if last else None,
        paid["to_pay_cents"] if paid else 0,
    )


def read_checks(connection: Connection, program_id: int, payout_id: int) -> PayoutChecks:
    """Return what to know before a draft is sent."""
    item, earned = payout_items.c, commissions.c
    of_item = (earned.program_id == item.program_id) & (earned.id == item.commission_id)
    mine = (item.program_id == program_id, item.payout_id == payout_id, item.is_live)
    drafted = select(payouts.c.created_at).where(payouts.c.program_id == program_id, payouts.c.id == payout_id)
    early = select(func.count()).select_from(payout_items.join(commissions, of_item))
    early = early.where(*mine, earned.hold_until > drafted.scalar_subquery())
    return PayoutChecks(
        len(payout_sending.changed_lines(connection, program_id, payout_id)), connection.execute(early).scalar_one()
    )
