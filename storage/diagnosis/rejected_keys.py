"""Requests rejected because of their program key: how many, since when, and whether they continue."""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from storage.rules.errors import ApiKeyRotationRequired, InvalidKey
from storage.tables import refused_calls

ONGOING = timedelta(hours=24)
RECENT = timedelta(days=7)
EVENTS = ("click", "lead", "sale", "refund")


class RejectedKeys(NamedTuple):
    """The requests rejected in the last 30 days; `is_ongoing` if the last one is less than a day old."""

    calls: int
    first_at: datetime
    last_at: datetime
    is_ongoing: bool

    @property
    def next_action(self) -> str:
        """Return what was lost and what to do about it."""
        events = f"{self.calls} {'event was' if self.calls == 1 else 'events were'}"
        since = f"since {self.first_at:%Y-%m-%d %H:%M} UTC, the last at {self.last_at:%Y-%m-%d %H:%M} UTC"
        lost = f"{events} rejected because of the program key {since}."
        if self.is_ongoing:
            fix = (
                "This is still happening: deploy the current program key on every server and job, then send them again."
            )
        else:
            fix = "None was rejected in the last 24 hours: send the lost events again with the current key."
        return f"{lost} {fix}"


def find(connection: Connection, program_id: int, *, at: datetime) -> RejectedKeys | None:
    """Return the requests rejected because of their key; None if there are none in the last 7 days."""
    call = refused_calls.c
    codes = (InvalidKey.code, ApiKeyRotationRequired.code)
    mine = (call.program_id == program_id, call.code.in_(codes), call.call.in_(EVENTS))
    totals = select(func.count(), func.min(call.at), func.max(call.at)).where(*mine)
    calls, first_at, last_at = connection.execute(totals).one()
    if last_at is None or last_at < at - RECENT:
        return None
    return RejectedKeys(calls, first_at, last_at, last_at >= at - ONGOING)
