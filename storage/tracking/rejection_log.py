"""The log of rejected calls with a program's key, stored for 30 days to explain why a sale was not credited."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.statements import Statement
from storage.rules.errors import ServiceError
from storage.tables.columns import to_millis

MOST_APART = timedelta(days=36_500)  # a reported time beyond it is an error of the sender's
SENT = ("customer_key", "click_id", "transaction_id", "amount_cents", "currency", "occurred_at")
_insert = Statement("rejected_call_insert")


class CallDetails(NamedTuple):
    """A tracking call in the log: `call` is sale, lead ...

    `sent` returns the fields of `SENT` that the call has, as sent; it runs only if the call is rejected.
    """

    call: str
    request_id: str
    at: datetime
    sent: Callable[[], Mapping[str, Any]] = dict


class Rejection(NamedTuple):
    """A rejected call, the program that its key belongs or belonged to, and who called."""

    program_id: int
    call: CallDetails
    error: ServiceError
    caller: str | None = None


def append(connection: Connection, rejections: Sequence[Rejection]) -> None:
    """Log rejected calls."""
    if rejections:
        new_ids = ids.after(max(rejection.call.at for rejection in rejections), len(rejections))
        _insert(connection, [_row(each, event_id) for each, event_id in zip(rejections, new_ids, strict=True)])


def _row(rejection: Rejection, event_id: int) -> tuple[Any, ...]:
    program_id, call, error, caller = rejection
    customer_key, click_id, transaction_id, amount_cents, currency, occurred_at = map(call.sent().get, SENT)
    fields = ", ".join(field.field for field in error.fields) or None
    what = (program_id, event_id, call.call, error.code, error.text, fields)
    sent = (customer_key, click_id, transaction_id, amount_cents, currency)
    occurred_at = occurred_at if occurred_at and abs(call.at - occurred_at) < MOST_APART else None
    who = (error.details.get("same_payload"), call.request_id, caller)
    return (*what, *sent, *who, occurred_at and to_millis(occurred_at), to_millis(call.at))
