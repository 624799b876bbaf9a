"""Decisions on flags: dismissing one releases what it held, confirming one rejects it, and refunds a duplicate sale."""

from collections.abc import Sequence

from sqlalchemy import Connection, select, update

from storage.engine import audit
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.flags import FLAGS, Flag
from storage.lists.held import is_held_by, of_one_finding
from storage.management import commission_decisions
from storage.rules.commission import CommissionStatus
from storage.rules.errors import SecondKeyRequired, ValidationError
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.tables import commissions, flags, sales
from storage.tracking import program_terms, refunds, rollups


def decide(
    connection: Connection, program_id: int, flag_id: int, state: FlagState, *, reason: str | None = None, by: audit.By
) -> Flag:
    """Dismiss or confirm an open flag, log it with the reason, and return it."""
    named, mine = flags.alias("named"), flags.c.program_id == program_id
    finding = select(flags.c.id).where(mine, named.c.id == flag_id, of_one_finding(flags.c, named.c))
    ids = connection.execute(finding.order_by(flags.c.id).with_for_update(of=flags)).scalars().all()
    flag = get(connection, FLAGS, ListScope(program_id, by.at), ids[0] if ids else flag_id)
    if state == flag.state:
        return flag
    if flag.state != FlagState.OPEN or state == FlagState.OPEN:
        raise ValidationError.of("state", f"A flag that is {flag.state} cannot become {state}")
    key_id = int(by.actor.id) if by.actor.is_agent else None
    row = commissions.c
    held_by_it = select(row.id, row.approved_by_key_id).where(row.program_id == program_id, is_held_by(flag.id))
    held = connection.execute(held_by_it.order_by(row.id)).all()
    if by.actor.is_agent and state == FlagState.DISMISSED and key_id in {each.approved_by_key_id for each in held}:
        raise SecondKeyRequired("This key approved a commission that the flag holds, so another key has to dismiss it.")
    decided = {"state": state, "decided_at": by.at, "decided_by": by.actor.name, "decision_reason": reason}
    connection.execute(update(flags).where(mine, flags.c.id.in_(ids)).values(**decided, decided_by_key_id=key_id))
    entries = [audit.Change("flag.decide", flag.id, "state", flag.state, state)]
    entries += [] if reason is None else [audit.Change("flag.decide", flag.id, "reason", None, reason)]
    audit.write(connection, program_id, entries, by=by)
    if state == FlagState.CONFIRMED:
        _confirm(connection, flag, [each.id for each in held], by=by)
    return get(connection, FLAGS, ListScope(program_id, by.at), flag.id)


def _confirm(connection: Connection, flag: Flag, held_ids: Sequence[int], *, by: audit.By) -> None:
    """Reject what the flag held, as far as it still can be; a duplicate sale is refunded, so that it counts no more."""
    is_duplicate = flag.kind == FlagKind.POSSIBLE_DUPLICATE
    program_id = flag.program_id
    transaction_id = flag.evidence.get("transaction_id", "")
    if is_duplicate:  # the sale is locked before its commission, as by a refund
        sale = (sales.c.program_id == program_id, sales.c.transaction_id == transaction_id)
        connection.execute(select(sales.c.id).where(*sale).with_for_update())
    with rollups.gathered(connection):
        rejected, because = CommissionStatus.REJECTED, f"{flag.id} {flag.kind}"
        commission_decisions.decide_each(connection, program_id, held_ids, rejected, by=by, flag=because)
        if is_duplicate:
            program = program_terms.load_one(connection, program_id)
            refunds.record(connection, [(program, refunds.Refund(transaction_id, by.at, reason="duplicate"))])
