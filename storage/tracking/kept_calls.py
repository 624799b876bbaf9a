"""Kept calls: what a replay needs of a rejected call, encrypted, for as long as the log has the rejection.

A call with a program's replaced key waits for its owner, who accepts or discards it; any other can be replayed. What is
kept is the parsed call, without an e-mail address in the clear. A call whose body is malformed, or in test mode, is not
kept, and neither is one that repeats another: no later call can change what it gets.
"""

import json
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from typing import Any

from storage.engine.sealing import Sealer, UnreadableSecretError
from storage.engine.statements import Statement
from storage.rules import errors
from storage.rules.contact import Contact
from storage.rules.errors import ServiceError
from storage.tables.columns import to_millis
from storage.tracking import leads, refunds, sales
from storage.tracking.leads import Lead
from storage.tracking.program_terms import KeyHolder
from storage.tracking.refunds import Refund
from storage.tracking.sale_decisions import Sale

Item = Lead | Sale | Refund
OPERATIONS: dict[str, tuple[type[Any], Callable[..., Any]]] = {  # in the order of a replay: a sale needs its lead
    "lead": (Lead, leads.record),
    "sale": (Sale, sales.record),
    "refund": (Refund, refunds.record),
}
_KINDS = {kind: name for name, (kind, _) in OPERATIONS.items()}
REPEATS = (errors.DuplicateTransaction.code, errors.IdempotencyKeyReused.code)
_TIMES = ("at", "occurred_at")
keep = Statement("kept_call_insert")  # of rows of `row_of`


class KeptState(StrEnum):
    """Whether a kept call can be replayed, waits for the owner, was performed, or was discarded."""

    KEPT = "kept"
    WAITING = "waiting"
    REPLAYED = "replayed"
    DISCARDED = "discarded"


def row_of(holder: KeyHolder, call: Any, error: ServiceError, event_id: int) -> tuple[Any, ...] | None:
    """Return the row that keeps a received call of a key's holder, None for one that is not kept."""
    is_old = holder.key is None
    can_wait = not is_old or (holder.kept_until is not None and call.at < holder.kept_until)
    if call.seal is None or not can_wait or error.code in REPEATS or not isinstance(call.item, Item):
        return None
    state = KeptState.WAITING if is_old else KeptState.KEPT
    text = json.dumps(call.item._asdict(), default=datetime.isoformat, ensure_ascii=False)
    about = (_KINDS[type(call.item)], error.code, state, call.seal(text), call.principal.caller)
    return (holder.program_id, event_id, *about, to_millis(call.at))


def opened(row: Any, sealer: Sealer) -> Item | None:
    """Return the call of a row, None for one that another SVC_SECRET_KEY encrypted."""
    try:
        values = json.loads(sealer.open(row.sealed))
    except UnreadableSecretError:
        return None
    values |= {name: datetime.fromisoformat(values[name]) for name in _TIMES if values.get(name)}
    if values.get("contact"):
        values["contact"] = Contact(*values["contact"])
    item: Item = OPERATIONS[row.call][0](**values)
    return item
