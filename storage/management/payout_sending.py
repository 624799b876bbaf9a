"""Sends payouts: checks that what a draft froze has not changed, and settles its lines; pays commissions at once."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, or_, select, update

from storage.engine import ids
from storage.engine.audit import Actor, By, Change
from storage.engine.database import lock_rows, plan_for_many
from storage.engine.statements import read_statement
from storage.lists.commissions import net_cents
from storage.lists.held import is_held
from storage.lists.payables import read_due
from storage.lists.payouts import PAYOUTS, Payout
from storage.management import agent_caps, one_row
from storage.management import payouts as runs
from storage.rules.commission import CommissionStatus
from storage.rules.errors import OverCap, PayoutChanged, SecondPersonRequired, ValidationError
from storage.rules.payout import LineState, PayoutState
from storage.tables import commissions, ledger_entries, partners, payout_items, payout_lines, programs

MOST_BY_KEY = 10_000
_earned, _item, _line = commissions.c, payout_items.c, payout_lines.c
_ENTRIES, _SET_OFFS, _COMMISSIONS, _LINES = (
    read_statement(f"payout_{name}") for name in ("entries", "set_offs", "commissions", "lines")
)


def send(
    connection: Connection,
    program_id: int,
    payout_id: int,
    *,
    paid_on: date,
    reference: str,
    failed: Mapping[int, str] | None = None,  # why, by the line
    notify: bool = True,
    by: By,
) -> Payout:
    """Say that a draft was paid, save for the lines that failed: what these froze is in the balances again.

    Partners get their statement by e-mail, if they and `notify` want it, from a server that sends e-mail.
    Raises PayoutSent, PayoutChanged, SecondPersonRequired, ValidationError; SecondKeyRequired or OverCap for agents.
    """
    run = lock_all(connection, program_id, payout_id, actor=by.actor)
    confirms = select(programs.c.confirm_payouts).where(programs.c.id == program_id)
    if run.confirmed_at is None and connection.execute(confirms).scalar_one():
        raise SecondPersonRequired
    failed = failed or {}
    _require_lines(connection, program_id, payout_id, failed)
    if changed := changed_lines(connection, program_id, payout_id, at=by.at):
        raise PayoutChanged(line_ids=changed)
    if failed:
        _fail(connection, program_id, payout_id, failed)
    if by.actor.is_agent:
        _require_allowed(connection, program_id, payout_id, by=by)
    settle(connection, program_id, payout_id, notify=notify, at=by.at)
    sent = {"state": PayoutState.SENT, "paid_on": paid_on, "reference": reference}
    sent |= {"sent_by": by.actor.name, "sent_at": by.at}
    said = {"paid_on": paid_on.isoformat(), "reference": reference, "failed": list(failed)}
    change = Change("payout.send", payout_id, after=said)
    return one_row.change(connection, PAYOUTS, program_id, payout_id, change, by=by, **sent)


def _require_lines(connection: Connection, program_id: int, payout_id: int, failed: Mapping[int, str]) -> None:
    """Raise ValidationError for a draft without lines, or without one of those that failed."""
    of_run = (_line.program_id == program_id, _line.payout_id == payout_id, _line.state == LineState.OPEN)
    line_ids = set(connection.execute(select(_line.id).where(*of_run)).scalars())
    if not line_ids or not failed.keys() <= line_ids:
        message = "Lines of the draft" if line_ids else "The draft pays no one: discard it"
        raise ValidationError.of("failed", message)


def _fail(connection: Connection, program_id: int, payout_id: int, failed: Mapping[int, str]) -> None:
    """Say why lines failed, and release their commissions."""
    of_lines = (_line.program_id == program_id, _line.payout_id == payout_id)
    values = {"state": LineState.FAILED, "failure": bindparam("reason")}
    one = update(payout_lines).where(*of_lines, _line.id == bindparam("line_id")).values(values)
    connection.execute(one, [{"line_id": line_id, "reason": reason} for line_id, reason in failed.items()])
    still_open = select(_line.partner_id).where(*of_lines, _line.state == LineState.OPEN)
    released = update(payout_items).where(*_items(program_id, payout_id), _item.partner_id.not_in(still_open))
    connection.execute(released.values(is_live=False))


def lock_all(
    connection: Connection, program_id: int, payout_id: int, state: PayoutState = PayoutState.DRAFT, *, actor: Actor
) -> Any:
    """Lock the commissions of a run, their partners' accounts, and the run as `payouts.lock` does; return the run."""
    plan_for_many(connection)
    mine = live_items(program_id, payout_id)
    for _, part in runs.parts(connection, mine):
        some = (_earned.program_id == program_id, _earned.id.in_(part))
        lock_rows(connection, select(_earned.id).where(*some).order_by(_earned.id))
    account = partners.c
    theirs = select(_line.partner_id).where(_line.program_id == program_id, _line.payout_id == payout_id)
    accounts = select(account.id).where(account.program_id == program_id, account.id.in_(theirs)).order_by(account.id)
    lock_rows(connection, accounts, key_share=True)
    return runs.lock(connection, program_id, payout_id, state, actor=actor)


def pay_at_once(connection: Connection, program_id: int, found: Sequence[Any], *, by: By) -> None:
    """Pay approved commissions, which are locked with their partners' accounts, by a run of these alone."""
    mine = (_earned.program_id == program_id, _earned.id.in_([each.id for each in found]))
    summed = select(_earned.partner_id, func.sum(net_cents())).where(*mine).group_by(_earned.partner_id)
    cents = {partner_id: int(cents) for partner_id, cents in connection.execute(summed)}
    due = read_due(connection, program_id, partner_ids=list(cents), at=by.at)
    paid = [each._replace(approved_cents=cents[each.id]) for each in due]
    sent = {"state": PayoutState.SENT, "paid_on": by.at.date(), "sent_by": by.actor.name, "sent_at": by.at}
    run = {"earned_until": by.at.date(), "left_out": "{}", **sent}
    payout_id = runs.start(connection, program_id, paid, select(_earned.id).where(*mine), by=by, **run)
    settle(connection, program_id, payout_id, notify=False, at=by.at)


def settle(connection: Connection, program_id: int, payout_id: int, *, notify: bool, at: datetime) -> None:
    """Pay the open lines of a run: the ledger's entries, the statuses of commissions, the numbers of statements."""
    of_run: dict[str, Any] = {"program_id": program_id, "payout_id": payout_id}
    items = connection.execute(select(func.count()).where(*_items(program_id, payout_id))).scalar_one()
    parts = [bounds for bounds, _ in runs.parts(connection, live_items(program_id, payout_id))]
    lines = select(func.count()).where(_line.program_id == program_id, _line.payout_id == payout_id)
    first = new_ids(connection, program_id, 2 * items + connection.execute(lines).scalar_one(), at=at)
    for number, part in enumerate(parts):
        connection.execute(_ENTRIES, of_run | part | {"first_id": first - 1 + number * runs.AT_ONCE, "at": at})
    connection.execute(_SET_OFFS, of_run | {"first_id": first - 1 + items, "at": at})
    for part in parts:
        connection.execute(_COMMISSIONS, of_run | part | {"at": at})
    last = connection.execute(select(func.max(_line.number)).where(_line.program_id == program_id)).scalar()
    connection.execute(_LINES, of_run | {"last_number": last or 0, "mail_is_due": notify})


def new_ids(connection: Connection, program_id: int, number: int, *, at: datetime) -> int:
    """Return the first of so many new ids of ledger entries, after those that the program has."""
    newest = select(func.max(ledger_entries.c.id)).where(ledger_entries.c.program_id == program_id)
    return ids.after(at, number, past=connection.execute(newest).scalar() or 0).start


def live_items(program_id: int, payout_id: int) -> Select[Any]:
    """Return the statement of the commissions in a run."""
    return select(_item.commission_id).where(*_items(program_id, payout_id))


def _items(program_id: int, payout_id: int) -> tuple[Any, ...]:
    return (_item.program_id == program_id, _item.payout_id == payout_id, _item.is_live)


def changed_lines(connection: Connection, program_id: int, payout_id: int, *, at: datetime) -> list[int]:
    """Return the lines of which a commission, the amount that is set off, or the method is not what they froze."""
    same = (_earned.program_id == _item.program_id) & (_earned.id == _item.commission_id)
    differs = or_(
        _earned.status != CommissionStatus.APPROVED,
        _earned.partner_id != _item.partner_id,
        net_cents() != _item.net_cents,
        is_held(),
    )
    changed = set[int]()
    for _, part in runs.parts(connection, live_items(program_id, payout_id)):
        some = part.with_only_columns(_item.partner_id).order_by(None).join(commissions, same)
        changed |= set(connection.execute(some.where(differs).distinct()).scalars())
    of_run = (_line.program_id == program_id, _line.payout_id == payout_id, _line.state == LineState.OPEN)
    partner_ids = select(_line.partner_id).where(*of_run)
    now = {each.id: each for each in read_due(connection, program_id, partner_ids=partner_ids, at=at)}
    lines = connection.execute(select(payout_lines).where(*of_run).order_by(_line.id)).all()
    return [
        each.id
        for each in lines
        if each.partner_id in changed
        or now[each.partner_id].settled_cents < each.adjusted_cents - each.set_off_cents
        or now[each.partner_id].method_changed_at != each.method_changed_at
    ]


def _require_allowed(connection: Connection, program_id: int, payout_id: int, *, by: By) -> None:
    """Raise what keeps an agent key from paying one of a run's commissions; else count them in the caps of its day."""
    mine = live_items(program_id, payout_id)
    found = select(commissions).where(_earned.program_id == program_id, _earned.id.in_(mine)).order_by(_earned.id)
    rows = connection.execute(found.limit(MOST_BY_KEY + 1)).all()
    if len(rows) > MOST_BY_KEY:
        raise OverCap(f"An agent key sends payouts of at most {MOST_BY_KEY:,} commissions.", cap="commissions_in_a_day")
    for error in agent_caps.obstacles(connection, program_id, rows, CommissionStatus.PAID, by=by).values():
        raise error
