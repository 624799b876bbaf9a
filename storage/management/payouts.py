"""Payouts: a draft freezes what partners are due; it is confirmed or discarded. payout_sending.py sends it."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from itertools import pairwise, product
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, literal, select, true, update
from sqlalchemy.exc import IntegrityError

from storage.engine import audit, ids
from storage.engine.audit import Actor, By, Change
from storage.engine.cursors import LARGEST_ID
from storage.engine.database import lock_rows, plan_for_many
from storage.engine.failures import StaleReadError
from storage.engine.statements import read_statement
from storage.lists.commissions import net_cents
from storage.lists.held import is_held
from storage.lists.payables import DuePartner, read_due
from storage.lists.payouts import PAYOUTS, Payout
from storage.management import fraud_review, one_row
from storage.rules import errors
from storage.rules.commission import CommissionStatus
from storage.rules.payout import LineState, PayableReason, PayoutState, end_of_last_month, owed
from storage.rules.periods.period import Window
from storage.tables import commissions, payout_items, payout_lines, payouts, programs

NO_TRIALS = "A sandbox's commissions are trials: no one is paid for them."
AT_ONCE = 20_000  # commissions, or partners, of one statement: a server ends it after some seconds
_COUNTS = read_statement("payout_counts")
DRAFTED_IT = "The person who drafted the payout cannot confirm it."


def draft(
    connection: Connection,
    program_id: int,
    *,
    earned_until: date | None = None,
    minimum_cents: int | None = None,
    partner_ids: Sequence[int] | None = None,
    by: By,
) -> Payout:
    """Freeze what is approved and free, and was earned until the end of a day, by default last month's; return the run.

    Partners who cannot be paid stay out. Raises PayoutOpen, PartnerNotFound, ValidationError for a sandbox.
    """
    require_payer(by.actor)
    if connection.execute(select(programs.c.sandbox_of).where(programs.c.id == program_id)).scalar() is not None:
        raise errors.ValidationError(NO_TRIALS)
    plan_for_many(connection)
    earned_until = earned_until or end_of_last_month(by.at)
    due = _review_due(connection, program_id, earned_until, at=by.at)
    which: dict[str, Any] = {"earned_until": earned_until, "minimum_cents": minimum_cents}
    found = read_due(connection, program_id, **which, partner_ids=partner_ids, at=by.at)
    if partner_ids is not None and len(found) < len(set(partner_ids)):
        raise errors.PartnerNotFound("The program has no such partner.", hint="List the program's partners.")
    left_out = Counter(each.reason for each in found if each.reason not in {None, PayableReason.NOTHING_TO_PAY})
    run = {"state": PayoutState.DRAFT, "left_out": json.dumps(left_out), **which}
    payout_id = start(connection, program_id, [each for each in found if each.reason is None], due, by=by, **run)
    return one_row.change(connection, PAYOUTS, program_id, payout_id, Change("payout.draft", payout_id), by=by)


def _review_due(connection: Connection, program_id: int, earned_until: date, *, at: datetime) -> Select[Any]:
    """Review and lock what is approved and was earned until a day; return the statement of its ids."""
    row, ends_at = commissions.c, Window(earned_until, earned_until).span.until
    earned = (row.program_id == program_id, row.status == CommissionStatus.APPROVED)
    due = select(row.id).where(*earned, *([] if ends_at is None else [row.created_at < ends_at]))
    fraud_review.flag_before_decision(connection, program_id, due, at=at)
    for _, part in parts(connection, due):
        lock_rows(connection, part, read=True)
    return due


def start(
    connection: Connection, program_id: int, partners: Sequence[DuePartner], due: Select[Any], *, by: By, **run: Any
) -> int:
    """Insert a run with an open line for each of these partners, freeze what they are due, and return the run's id."""
    payout_id, *line_ids = ids.after(by.at, 1 + len(partners))
    who = {"created_by": by.actor.name, "created_by_id": by.actor.key, "created_at": by.at}
    try:
        connection.execute(insert(payouts).values(program_id=program_id, id=payout_id, **who, **run))
    except IntegrityError:
        raise errors.PayoutOpen from None
    of_run = {"program_id": program_id, "payout_id": payout_id, "state": LineState.OPEN, "created_at": by.at}
    lines = []
    for line_id, each in zip(line_ids, partners, strict=True):
        method = {name: value for name, value in each._asdict().items() if name.startswith("method")}
        amounts = owed(each.approved_cents, each.settled_cents)._asdict() | {"approved_cents": each.approved_cents}
        lines.append(of_run | {"id": line_id, "partner_id": each.id, "commissions": 0} | amounts | method)
    if lines:
        connection.execute(insert(payout_lines), lines)
    _freeze(connection, program_id, payout_id, due)
    return payout_id


def _freeze(connection: Connection, program_id: int, payout_id: int, due: Select[Any]) -> None:
    """Put these commissions of the partners with a line into a run. Raises StaleReadError if one changed meanwhile."""
    earned, line = commissions.c, payout_lines.c
    mine = (line.program_id == program_id, line.payout_id == payout_id)
    partner_ids = connection.execute(select(line.partner_id).where(*mine)).scalars().all()
    values = (earned.program_id, literal(payout_id), earned.partner_id, earned.id, net_cents(), true())
    # No join, of which PostgreSQL could not guess the size.
    for (_, part), start in product(parts(connection, due), range(0, len(partner_ids), AT_ONCE)):
        theirs = earned.partner_id.in_(partner_ids[start : start + AT_ONCE])
        frozen = part.with_only_columns(*values).where(theirs, ~is_held())
        connection.execute(insert(payout_items).from_select(payout_items.c.keys(), frozen))
    counted = connection.execute(_COUNTS, {"program_id": program_id, "payout_id": payout_id})
    if counted.rowcount != len(partner_ids):
        raise StaleReadError


def parts(connection: Connection, ids: Select[Any]) -> list[tuple[dict[str, int], Select[Any]]]:
    """Return the parts of many commissions' ids, 20,000 in each: its first id and end as values, and its statement."""
    [row_id] = ids.selected_columns
    numbered = ids.add_columns(func.row_number().over(order_by=row_id).label("place")).subquery().c
    firsts = select(numbered[0]).where((numbered.place - 1) % AT_ONCE == 0).order_by(numbered[0])
    bounds = pairwise([*connection.execute(firsts).scalars(), LARGEST_ID])
    ordered = ids.order_by(row_id)
    return [({"since_id": first, "end_id": end}, ordered.where(row_id >= first, row_id < end)) for first, end in bounds]


def obstacles(
    connection: Connection, program_id: int, found: Sequence[Any], *, actor: Actor
) -> dict[int, errors.ServiceError]:
    """Return what keeps each of these commissions from being paid at once.

    OwnerRequired for a member who may not pay, ValidationError for a sandbox, SecondPersonRequired where payouts are
    confirmed, PayoutOpen for what is in a draft.
    """
    of_program = select(programs.c.sandbox_of, programs.c.confirm_payouts).where(programs.c.id == program_id)
    sandbox_of, confirms = connection.execute(of_program).one()
    error: errors.ServiceError | None = errors.SecondPersonRequired() if confirms else None
    if not actor.may_pay:
        error = errors.OwnerRequired("Only an owner or a member with the role finance may say that it is paid.")
    elif sandbox_of is not None:
        error = errors.ValidationError(NO_TRIALS)
    item, run, every = payout_items.c, payouts.c, [each.id for each in found]
    drafted = select(run.id).where(run.program_id == program_id, run.state == PayoutState.DRAFT)
    mine = (item.program_id == program_id, item.commission_id.in_(every), item.is_live)
    ids_of_draft = select(item.commission_id).where(*mine, item.payout_id.in_(drafted))
    if error is not None:
        return dict.fromkeys(every, error)
    in_draft = errors.PayoutOpen("It is in a draft of a payout.")
    return dict.fromkeys(connection.execute(ids_of_draft).scalars(), in_draft)


def require_payer(actor: Actor) -> None:
    """Raise OwnerRequired for a member who may not pay."""
    if not actor.may_pay:
        raise errors.OwnerRequired("Only an owner or a member with the role finance may pay.")


def lock(
    connection: Connection, program_id: int, payout_id: int, state: PayoutState = PayoutState.DRAFT, *, actor: Actor
) -> Any:
    """Lock and return a run that is in a state. Raises OwnerRequired, NotFound, PayoutSent, ValidationError."""
    require_payer(actor)
    mine = select(payouts).where(one_row.of(payouts, program_id, payout_id)).with_for_update()
    missing = errors.NotFound("The program has no such payout.")
    run = errors.required(connection.execute(mine).one_or_none(), missing)
    if run.state != state:
        if run.state == PayoutState.SENT:
            raise errors.PayoutSent
        raise errors.ValidationError(f"The payout is {PayoutState(run.state)}.")
    return run


def discard(connection: Connection, program_id: int, payout_id: int, *, by: By) -> None:
    """Give a draft up and release its commissions; one that was sent before stays, discarded. Raises as `lock`."""
    run = lock(connection, program_id, payout_id, actor=by.actor)
    of_run = [
        (table.c.program_id == program_id, table.c.payout_id == payout_id) for table in (payout_items, payout_lines)
    ]
    mine = one_row.of(payouts, program_id, payout_id)
    if run.reopened_at is None:
        connection.execute(delete(payout_items).where(*of_run[0]))
        connection.execute(delete(payout_lines).where(*of_run[1]))
        connection.execute(delete(payouts).where(mine))
    else:
        connection.execute(update(payout_items).where(*of_run[0]).values(is_live=False))
        is_open = payout_lines.c.state == LineState.OPEN
        failed = {"state": LineState.FAILED, "failure": "The payout was discarded."}
        connection.execute(update(payout_lines).where(*of_run[1], is_open).values(failed))
        connection.execute(update(payouts).where(mine).values(state=PayoutState.DISCARDED))
    audit.write(connection, program_id, [Change("payout.discard", payout_id)], by=by)


def confirm(connection: Connection, program_id: int, payout_id: int, *, by: By) -> Payout:
    """Confirm a draft that another person made. Raises SecondPersonRequired, and as `lock`."""
    run = lock(connection, program_id, payout_id, actor=by.actor)
    if run.created_by_id == by.actor.key:
        raise errors.SecondPersonRequired(DRAFTED_IT)
    confirmed, change = {"confirmed_by": by.actor.name, "confirmed_at": by.at}, Change("payout.confirm", payout_id)
    return one_row.change(connection, PAYOUTS, program_id, payout_id, change, by=by, **confirmed)
