"""The log of rejected calls with a program's key, stored for 30 days to explain why a sale was not credited."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection

from storage.engine import ids
from storage.engine.statements import Statement
from storage.rules import click_details
from storage.rules.errors import ServiceError
from storage.tables.columns import to_millis

MOST_APART = timedelta(days=36_500)  # a reported time beyond it is an error of the sender's
_insert = Statement("rejected_call_insert")


class CallDetails(NamedTuple):
    """A tracking call in the log: `call` is sale, lead ...; identifiers and amount are as sent.

    `user_agent` and `network_hash` say who calls with a key; `occurred_at` is the reported time of a sale.
    """

    call: str
    request_id: str
    at: datetime
    customer_key: str | None = None
    click_id: str | None = None
    transaction_id: str | None = None
    amount_cents: int | None = None
    currency: str | None = None
    occurred_at: datetime | None = None
    user_agent: str | None = None
    network_hash: str | None = None


class Rejection(NamedTuple):
    """A rejected call, and the program that its key belongs or belonged to."""

    program_id: int
    call: CallDetails
    error: ServiceError


def append(connection: Connection, rejections: Sequence[Rejection]) -> None:
    """Log rejected calls."""
    if rejections:
        new_ids = ids.after(max(rejection.call.at for rejection in rejections), len(rejections))
        _insert(connection, [_row(each, event_id) for each, event_id in zip(rejections, new_ids, strict=True)])


def _row(rejection: Rejection, event_id: int) -> tuple[Any, ...]:
    call, error = rejection.call, rejection.error
    fields = ", ".join(field.field for field in error.fields) or None
    what = (rejection.program_id, event_id, call.call, error.code, error.text, fields)
    sent = (call.customer_key, call.click_id, call.transaction_id, call.amount_cents, call.currency)
    caller = click_details.caller_name(call.user_agent, call.network_hash)
    is_stored = call.occurred_at is not None and abs(call.at - call.occurred_at) < MOST_APART
    occurred_at = to_millis(call.occurred_at) if is_stored and call.occurred_at else None
    who = (error.details.get("same_payload"), call.request_id, caller)
    return (*what, *sent, *who, occurred_at, to_millis(call.at))
