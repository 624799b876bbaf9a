"""Decisions on flags: dismissing one releases what it held, confirming one rejects it, and refunds a duplicate sale."""

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, select, update

from storage.engine import audit
from storage.engine.audit import Actor, Change
from storage.lists.commissions import net_cents
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.flags import FLAGS, Flag
from storage.lists.held import concerned
from storage.management import commission_decisions
from storage.management.pending_work import Waiting
from storage.rules.commission import MAY_BECOME, CommissionStatus
from storage.rules.errors import FieldError, SecondKeyRequired, ValidationError
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.tables import commissions, flags, sales
from storage.tracking import program_terms, refunds, rollups
from storage.tracking.refunds import Refund


def decide(
    connection: Connection,
    program_id: int,
    flag_id: int,
    state: FlagState,
    *,
    actor: Actor,
    at: datetime,
    reason: str | None = None,
) -> Flag:
    """Dismiss or confirm an open flag, log it with the reason, and return it.

    Confirming rejects the commissions that it held, unless they are paid, and refunds a duplicate sale, which counts no
    more. Raises NotFound; ValidationError for a flag that is already decided otherwise; SecondKeyRequired for an agent
    key that approved what it would release.
    """
    mine = (flags.c.program_id == program_id, flags.c.id == flag_id)
    connection.execute(select(flags.c.id).where(*mine).with_for_update())
    flag = get(connection, FLAGS, ListScope(program_id, at), flag_id)
    if state == flag.state:
        return flag
    if flag.state != FlagState.OPEN or state == FlagState.OPEN:
        raise ValidationError(fields=[FieldError("state", f"A flag that is {flag.state} cannot become {state}")])
    key_id = int(actor.id) if actor.is_agent else None
    approved = _held(flag).where(commissions.c.approved_by_key_id == key_id)
    if key_id is not None and state == FlagState.DISMISSED and connection.execute(approved.limit(1)).first():
        raise SecondKeyRequired("This key approved a commission that the flag holds, so another key has to dismiss it.")
    decided = {"state": state, "decided_at": at, "decided_by": actor.name, "decision_reason": reason}
    connection.execute(update(flags).where(*mine).values(**decided, decided_by_key_id=key_id))
    entries = [Change("flag.decide", flag_id, "state", flag.state, state)]
    if reason is not None:
        entries.append(Change("flag.decide", flag_id, "reason", None, reason))
    audit.write(connection, program_id, entries, actor=actor, at=at)
    if state == FlagState.CONFIRMED:
        _confirm(connection, flag, actor=actor, at=at)
    return get(connection, FLAGS, ListScope(program_id, at), flag_id)


def count_held(connection: Connection, program_id: int, flag_id: int, *, at: datetime) -> Waiting:
    """Return how many commissions an open flag holds, and what they are worth. Raises NotFound."""
    worth = (func.count(), func.coalesce(func.sum(net_cents()), 0))
    flag = get(connection, FLAGS, ListScope(program_id, at), flag_id)
    held = _held(flag).with_only_columns(*worth, maintain_column_froms=True)
    return Waiting(*map(int, connection.execute(held).one()))


def _confirm(connection: Connection, flag: Flag, *, actor: Actor, at: datetime) -> None:
    """Reject what the flag held; a duplicate sale is refunded, too, so that it counts no more."""
    if flag.kind != FlagKind.POSSIBLE_DUPLICATE:
        _reject_held(connection, flag, actor=actor, at=at)
        return
    transaction_id = flag.evidence["transaction_id"]
    sale = (sales.c.program_id == flag.program_id, sales.c.transaction_id == transaction_id)
    connection.execute(select(sales.c.id).where(*sale).with_for_update())  # before its commission, as a refund does
    with rollups.gathered(connection):
        _reject_held(connection, flag, actor=actor, at=at)
        program = program_terms.load_one(connection, flag.program_id)
        refunds.record(connection, [(program, Refund(transaction_id, at, reason="duplicate"))])


def _reject_held(connection: Connection, flag: Flag, *, actor: Actor, at: datetime) -> None:
    """Reject each commission that the flag held and whose status allows it."""
    held, because = connection.execute(_held(flag)).scalars().all(), f"{flag.id} {flag.kind}"
    chosen = (flag.program_id, held, CommissionStatus.REJECTED)
    commission_decisions.change_each(connection, *chosen, actor=actor, at=at, flag=because)


def _held(flag: Flag) -> Select[Any]:
    """Return the statement that reads the ids of what a flag holds and its confirmation rejects."""
    rejectable = [status for status, next_ones in MAY_BECOME.items() if CommissionStatus.REJECTED in next_ones]
    row = commissions.c
    mine = (row.program_id == flag.program_id, flags.c.id == flag.id, row.status.in_(rejectable))
    return select(row.id).where(*mine, concerned())
