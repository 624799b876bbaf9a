"""Sends payouts: checks that what a draft froze has not changed, and settles its lines; pays commissions at once."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, insert, literal, or_, select, update

from storage.engine import audit, ids
from storage.engine.audit import Actor, Change
from storage.engine.database import lock_rows, plan_for_many
from storage.lists import balances
from storage.lists.commissions import net_cents
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.held import is_held
from storage.lists.payables import METHOD, DuePartner
from storage.lists.payouts import PAYOUTS, Payout
from storage.management import agent_decisions
from storage.management import payouts as runs
from storage.rules.commission import CommissionStatus
from storage.rules.errors import FieldError, OverCap, PayoutChanged, SecondPersonRequired, ValidationError
from storage.rules.payout import LineState, PayoutState, set_off_each
from storage.tables import (
    commissions,
    ledger_entries,
    partners,
    payout_items,
    payout_lines,
    payout_methods,
    payouts,
    programs,
)
from storage.tables.columns import Timestamp
from storage.tracking.ledger import EntryKind

MOST_BY_KEY = 10_000
_earned, _item, _line = commissions.c, payout_items.c, payout_lines.c
ENTRY = ("program_id", "id", "partner_id", "commission_id", "payout_id", "kind", "amount_cents", "at")


class FailedLine(NamedTuple):
    """A line whose payment failed, and why."""

    line_id: int
    reason: str


def send(
    connection: Connection,
    program_id: int,
    payout_id: int,
    *,
    paid_on: date,
    reference: str,
    failed: Sequence[FailedLine] = (),
    actor: Actor,
    at: datetime,
) -> Payout:
    """Say that a draft was paid, save for the lines that failed: what these froze is in the balances again.

    Raises PayoutSent, PayoutChanged, SecondPersonRequired, ValidationError; SecondKeyRequired or OverCap for agents.
    """
    lock_all(connection, program_id, payout_id)
    run = runs.lock(connection, program_id, payout_id, actor=actor)
    confirms = select(programs.c.confirm_payouts).where(programs.c.id == program_id)
    if run.confirmed_at is None and connection.execute(confirms).scalar_one():
        raise SecondPersonRequired
    of_lines = (_line.program_id == program_id, _line.payout_id == payout_id)
    is_open = _line.state == LineState.OPEN
    line_ids = set(connection.execute(select(_line.id).where(*of_lines, is_open)).scalars())
    if not line_ids or not {each.line_id for each in failed} <= line_ids:
        message = "Lines of the draft" if line_ids else "The draft pays no one: discard it"
        raise ValidationError(fields=[FieldError("failed", message)])
    if changed := changed_lines(connection, program_id, payout_id):
        raise PayoutChanged(line_ids=changed)
    if failed:
        _fail(connection, program_id, payout_id, failed)
    if actor.is_agent:
        _require_allowed(connection, program_id, payout_id, actor, at=at)
    settle(connection, program_id, payout_id, at=at)
    sent = {"state": PayoutState.SENT, "paid_on": paid_on, "reference": reference, "sent_by": actor.name, "sent_at": at}
    mine = (payouts.c.program_id == program_id, payouts.c.id == payout_id)
    connection.execute(update(payouts).where(*mine).values(sent))
    said = {"paid_on": paid_on.isoformat(), "reference": reference, "failed": [each.line_id for each in failed]}
    audit.write(connection, program_id, [Change("payout.send", payout_id, after=said)], actor=actor, at=at)
    return get(connection, PAYOUTS, ListScope(program_id, at), payout_id)


def _fail(connection: Connection, program_id: int, payout_id: int, failed: Sequence[FailedLine]) -> None:
    """Say why lines failed, and release their commissions."""
    of_lines = (_line.program_id == program_id, _line.payout_id == payout_id)
    values = {"state": LineState.FAILED, "failure": bindparam("reason")}
    one = update(payout_lines).where(*of_lines, _line.id == bindparam("line_id")).values(values)
    connection.execute(one, [each._asdict() for each in failed])
    still_open = select(_line.partner_id).where(*of_lines, _line.state == LineState.OPEN)
    released = update(payout_items).where(*_items(program_id, payout_id), _item.partner_id.not_in(still_open))
    connection.execute(released.values(is_live=False))


def lock_all(connection: Connection, program_id: int, payout_id: int) -> None:
    """Lock the commissions of a run and their partners' accounts, in the order in which all transactions do."""
    plan_for_many(connection)
    mine = select(_item.commission_id).where(*_items(program_id, payout_id))
    lock_rows(
        connection,
        select(_earned.id).where(_earned.program_id == program_id, _earned.id.in_(mine)).order_by(_earned.id),
    )
    account = partners.c
    theirs = select(_line.partner_id).where(_line.program_id == program_id, _line.payout_id == payout_id)
    accounts = select(account.id).where(account.program_id == program_id, account.id.in_(theirs)).order_by(account.id)
    lock_rows(connection, accounts, key_share=True)


def pay_at_once(connection: Connection, program_id: int, found: Sequence[Any], *, actor: Actor, at: datetime) -> None:
    """Pay approved commissions, which are locked with their partners' accounts, by a run of these alone."""
    mine = (_earned.program_id == program_id, _earned.id.in_([each.id for each in found]))
    summed = select(_earned.partner_id, func.sum(net_cents())).where(*mine).group_by(_earned.partner_id)
    approved = connection.execute(summed.order_by(_earned.partner_id)).all()
    partner_ids = [each[0] for each in approved]
    settled = balances.settled_cents(connection, program_id, partner_ids)
    method = payout_methods.c
    theirs = select(method.partner_id, *METHOD).where(
        method.program_id == program_id, method.partner_id.in_(partner_ids)
    )
    methods = {partner_id: values for partner_id, *values in connection.execute(theirs)}
    payout_id, *line_ids = ids.after(at, 1 + len(approved))
    who = {"created_by": actor.name, "created_by_id": f"{actor.type} {actor.id}", "sent_by": actor.name}
    days = {"earned_until": at.date(), "paid_on": at.date(), "created_at": at, "sent_at": at}
    run = {"program_id": program_id, "id": payout_id, "state": PayoutState.SENT, "left_out": "{}", **who, **days}
    connection.execute(insert(payouts).values(run))
    due = [
        (line_id, DuePartner(each, int(cents), settled.get(each, 0), None, *methods.get(each, ())))
        for line_id, (each, cents) in zip(line_ids, approved, strict=True)
    ]
    runs.add_lines(connection, program_id, payout_id, due, at=at)
    runs.freeze(connection, program_id, payout_id, select(_earned.id).where(*mine))
    settle(connection, program_id, payout_id, at=at)


def settle(connection: Connection, program_id: int, payout_id: int, *, at: datetime) -> None:
    """Pay the open lines of a run: the ledger's entries, the statuses of commissions, the numbers of statements."""
    live, of_lines = _items(program_id, payout_id), (_line.program_id == program_id, _line.payout_id == payout_id)
    entry = ledger_entries.c
    newest = connection.execute(select(func.max(entry.id)).where(entry.program_id == program_id)).scalar() or 0
    number = connection.execute(select(func.count()).where(*live)).scalar_one()
    first = ids.after(at, number, past=newest).start
    new_id = literal(first - 1) + func.row_number().over(order_by=_item.commission_id)
    paid = (_item.program_id, new_id, _item.partner_id, _item.commission_id, _item.payout_id)
    values = select(*paid, literal(EntryKind.PAYOUT), -_item.net_cents, literal(at, Timestamp))
    entries = values.where(*live, _item.net_cents != 0).order_by(_item.commission_id)
    connection.execute(insert(ledger_entries).from_select(ENTRY, entries))
    _set_off(connection, program_id, payout_id, at=at)
    mine = (_earned.program_id == program_id, _earned.id.in_(select(_item.commission_id).where(*live)))
    connection.execute(update(commissions).where(*mine).values(status=CommissionStatus.PAID, paid_at=at))
    last = connection.execute(select(func.max(_line.number)).where(_line.program_id == program_id)).scalar() or 0
    unpaid = select(_line.id).where(*of_lines, _line.state == LineState.OPEN, _line.number.is_(None))
    line_ids = connection.execute(unpaid.order_by(_line.id)).scalars().all()
    if line_ids:
        one = update(payout_lines).where(*of_lines, _line.id == bindparam("line_id")).values(number=bindparam("next"))
        connection.execute(one, [{"line_id": each, "next": last + n} for n, each in enumerate(line_ids, 1)])
    paid_lines = update(payout_lines).where(*of_lines, _line.state == LineState.OPEN)
    connection.execute(paid_lines.values(state=LineState.PAID))


def _items(program_id: int, payout_id: int) -> tuple[Any, ...]:
    return (_item.program_id == program_id, _item.payout_id == payout_id, _item.is_live)


def changed_lines(connection: Connection, program_id: int, payout_id: int) -> list[int]:
    """Return the lines of which a commission, the amount that is set off, or the method is not what they froze."""
    same = (_earned.program_id == _item.program_id) & (_earned.id == _item.commission_id)
    differs = or_(
        _earned.status != CommissionStatus.APPROVED,
        _earned.partner_id != _item.partner_id,
        net_cents() != _item.net_cents,
        is_held(),
    )
    joined = payout_items.join(commissions, same)
    found = select(_item.partner_id).select_from(joined).where(*_items(program_id, payout_id), differs).distinct()
    changed = set(connection.execute(found).scalars())
    method = payout_methods.c
    theirs = (method.program_id == _line.program_id) & (method.partner_id == _line.partner_id)
    of_run = (_line.program_id == program_id, _line.payout_id == payout_id, _line.state == LineState.OPEN)
    amounts = (_line.set_off_cents, _line.adjusted_cents, _line.method_changed_at, method.changed_at)
    lines = select(_line.id, _line.partner_id, *amounts).select_from(payout_lines.outerjoin(payout_methods, theirs))
    mine = select(_line.partner_id).where(*of_run)
    settled = balances.settled_cents(connection, program_id, mine)
    return [
        each.id
        for each in connection.execute(lines.where(*of_run).order_by(_line.id))
        if each.partner_id in changed
        or settled.get(each.partner_id, 0) < each.adjusted_cents - each.set_off_cents
        or each.method_changed_at != each.changed_at
    ]


def _require_allowed(connection: Connection, program_id: int, payout_id: int, actor: Actor, *, at: datetime) -> None:
    """Raise what keeps an agent key from paying one of a run's commissions; else count them in the caps of its day."""
    mine = select(_item.commission_id).where(*_items(program_id, payout_id))
    found = select(commissions).where(_earned.program_id == program_id, _earned.id.in_(mine)).order_by(_earned.id)
    rows = connection.execute(found.limit(MOST_BY_KEY + 1)).all()
    if len(rows) > MOST_BY_KEY:
        raise OverCap(f"An agent key sends payouts of at most {MOST_BY_KEY:,} commissions.", cap="commissions_in_a_day")
    for error in agent_decisions.obstacles(
        connection, program_id, rows, CommissionStatus.PAID, int(actor.id), at=at
    ).values():
        raise error


def _set_off(connection: Connection, program_id: int, payout_id: int, *, at: datetime) -> None:
    """Append what is set off, or is owed besides, commission by commission."""
    of_run = (_line.program_id == program_id, _line.payout_id == payout_id, _line.state == LineState.OPEN)
    is_due = (_line.set_off_cents != 0) | (_line.adjusted_cents != 0)
    lines = connection.execute(select(payout_lines).where(*of_run, is_due).order_by(_line.partner_id)).all()
    if not lines:
        return
    settled = defaultdict[int, list[tuple[int | None, int]]](list)
    items = select(_item.partner_id, _item.commission_id, _item.net_cents).where(*_items(program_id, payout_id))
    for partner_id, *each in connection.execute(items.order_by(_item.commission_id)):
        settled[partner_id].append((each[0], each[1]))
    rows = []
    for line in lines:
        theirs = settled[line.partner_id]
        parts = set_off_each(line.set_off_cents, line.adjusted_cents, [cents for _, cents in theirs])
        rows += [(line.partner_id, name, cents) for (name, _), cents in zip(theirs or [(None, 0)], parts, strict=True)]
    add_set_offs(connection, program_id, payout_id, [each for each in rows if each[-1]], at=at)


def add_set_offs(
    connection: Connection,
    program_id: int,
    payout_id: int,
    parts: Sequence[tuple[int, int | None, int]],
    *,
    at: datetime,
) -> None:
    """Append set-offs of a run: the partner, a commission or none, and the cents."""
    of_run = {"program_id": program_id, "payout_id": payout_id, "kind": EntryKind.SET_OFF, "at": at}
    rows = [
        of_run | {"id": entry_id, "partner_id": partner_id, "commission_id": commission_id, "amount_cents": cents}
        for entry_id, (partner_id, commission_id, cents) in zip(ids.after(at, len(parts)), parts, strict=True)
    ]
    if rows:
        connection.execute(insert(ledger_entries), rows)
