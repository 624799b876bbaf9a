"""What the pages of payouts show besides lists, and the payments of a payout, whose details are still encrypted."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine.statements import read_statement
from storage.lists.balances import Hold, next_holds
from storage.lists.declaration import ListQuery, ListScope
from storage.lists.find import find, get
from storage.lists.payables import read_due
from storage.lists.payouts import PAYOUT_LINES, PAYOUTS, Payout
from storage.lists.programs import Program, read_program
from storage.management import payout_sending
from storage.management.commission_decisions import Waiting
from storage.rules.payout import PayableReason, PayoutState, owed

_PAYMENTS, _EARLY = read_statement("payout_payments"), read_statement("payout_early")
_NOT_BLOCKED = {None, PayableReason.NOTHING_TO_PAY, PayableReason.IN_DRAFT}


def read_payments(
    connection: Connection, program_id: int, payout_id: int, *, at: datetime
) -> tuple[Payout, Program, Sequence[Any]]:
    """Return a payout, its program, and what it pays, without what failed or pays nothing. Raises NotFound."""
    payout = get(connection, PAYOUTS, ListScope(program_id, at), payout_id)
    payments = connection.execute(_PAYMENTS, {"program_id": program_id, "payout_id": payout_id}).all()
    return payout, read_program(connection, program_id), payments


class PayoutSummary(NamedTuple):
    """What a payout would pay now, and what it cannot, with the draft and the last payout."""

    ready: Waiting
    blocked: Waiting
    held_cents: int  # on hold in all
    next_hold: Hold | None  # the first that ends
    draft: Payout | None
    last: Payout | None
    paid_cents: int  # by the year's payouts


class PayoutChecks(NamedTuple):
    """What to know before a draft is sent: its lines that changed, and commissions approved before their hold ended."""

    changed: int
    early: int


def read_summary(connection: Connection, program_id: int, earned_until: date, *, at: datetime) -> PayoutSummary:
    """Return what a program's next payout would pay of what was earned until a day, and what was paid this year."""
    scope = ListScope(program_id, at)
    every = read_due(connection, program_id, earned_until=earned_until, at=at)
    due = [(each.reason, owed(each.approved_cents, each.settled_cents).to_pay_cents) for each in every]
    blocked = [cents for reason, cents in due if reason not in _NOT_BLOCKED]
    ready = [cents for reason, cents in due if reason is None]
    year = {"paid_from": datetime(at.year, 1, 1, tzinfo=UTC)}
    paid = find(connection, PAYOUT_LINES, scope, ListQuery(1, filters=year, has_totals=True)).totals
    draft, last = (
        find(connection, PAYOUTS, scope, ListQuery(1, filters={"state": state})).data
        for state in (PayoutState.DRAFT, PayoutState.SENT)
    )
    return PayoutSummary(
        Waiting(len(ready), sum(ready)),
        Waiting(len(blocked), sum(blocked)),
        sum(each.on_hold_cents for each in every),
        next(iter(next_holds(connection, program_id, at=at)), None),
        draft[0] if draft else None,
        last[0] if last else None,
        paid["to_pay_cents"] if paid else 0,
    )


def read_checks(connection: Connection, program_id: int, payout_id: int, *, at: datetime) -> PayoutChecks:
    """Return what to know before a draft is sent."""
    early = connection.execute(_EARLY, {"program_id": program_id, "payout_id": payout_id}).scalar_one()
    return PayoutChecks(len(payout_sending.changed_lines(connection, program_id, payout_id, at=at)), early)
