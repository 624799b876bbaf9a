"""Logins of a device that has no browser (RFC 8628): it shows a short code, a member approves it, it gets a session."""

import secrets
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.access import sessions
from storage.access.sessions import Started
from storage.rules import keys
from storage.rules.errors import AccessDenied, AuthorizationPending, ExpiredToken, NotFound, ServiceError, SlowDown
from storage.tables import device_logins

LIFETIME = timedelta(minutes=15)
INTERVAL = timedelta(seconds=2)
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # RFC 8628, 6.1: no vowels, so no words, and nothing that looks like a digit


class Asked(NamedTuple):
    """A login that waits for its member: `device_code` is the device's secret, `user_code` what it shows."""

    device_code: str
    user_code: str


class Waiting(NamedTuple):
    """What the member is shown: the code to compare, and what the device says it is (untrusted text)."""

    user_code: str
    client: str
    created_at: datetime


def ask(connection: Connection, *, client: str, at: datetime) -> Asked:
    """Start a login for a device; it can be approved for 15 minutes."""
    letters = "".join(secrets.choice(LETTERS) for _ in range(8))
    asked = Asked(secrets.token_urlsafe(32), f"{letters[:4]}-{letters[4:]}")
    row = {"device_hash": keys.digest(asked.device_code), "user_code": asked.user_code, "client": client}
    connection.execute(insert(device_logins).values(**row, created_at=at, expires_at=at + LIFETIME))
    return asked


def find(connection: Connection, user_code: str, *, at: datetime) -> Waiting:
    """Return the login that shows this code and waits for a decision. Raises NotFound."""
    found = connection.execute(select(device_logins).where(*_open(user_code, at))).one_or_none()
    if found is None:
        raise NotFound("No login waits with this code.", hint="Compare it with your terminal; codes last 15 minutes.")
    return Waiting(found.user_code, found.client, found.created_at)


def decide(connection: Connection, user_code: str, *, user_id: int, approved: bool, at: datetime) -> None:
    """Approve a login as a member, or refuse it; nobody decides twice. Raises NotFound."""
    find(connection, user_code, at=at)
    decided = update(device_logins).where(*_open(user_code, at)).values(user_id=user_id, approved=approved)
    if connection.execute(decided).rowcount == 0:
        raise NotFound


def poll(connection: Connection, device_code: str, *, at: datetime) -> Started | ServiceError:
    """Return the device's session once it is approved: once, then the login is gone.

    Refuses with AuthorizationPending, SlowDown, AccessDenied or ExpiredToken; each is returned, and raised by the
    writer only after what was written: that the device asked is kept.
    """
    mine = device_logins.c.device_hash == keys.digest(device_code)
    found: Any = connection.execute(select(device_logins).where(mine).with_for_update()).one_or_none()
    if found is None or found.expires_at <= at:
        return ExpiredToken()
    if found.approved is None:
        early = found.polled_at is not None and at < found.polled_at + INTERVAL / 2
        connection.execute(update(device_logins).where(mine).values(polled_at=at))
        return SlowDown() if early else AuthorizationPending()
    connection.execute(delete(device_logins).where(mine))
    return sessions.start(connection, found.user_id, at=at) if found.approved else AccessDenied()


def prune(connection: Connection, *, at: datetime) -> int:
    """Forget the logins that have expired; return how many."""
    return connection.execute(delete(device_logins).where(device_logins.c.expires_at <= at)).rowcount


def _open(user_code: str, at: datetime) -> tuple[Any, ...]:
    login = device_logins.c
    return (login.user_code == user_code.upper(), login.expires_at > at, login.approved.is_(None))
