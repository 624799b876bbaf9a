"""Logins of devices without a browser (RFC 8628): a member approves the code on the device, which gets a session."""

import secrets
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.access import sessions
from storage.rules import errors, keys
from storage.rules.errors import ServiceError, required
from storage.tables import device_logins

LIFETIME = timedelta(minutes=15)
INTERVAL = timedelta(seconds=2)
TOLERANCE = timedelta(seconds=1)  # a poll may travel faster than the one before
SLOWER_SECONDS = 5
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # RFC 8628, 6.1: no vowels, so no words, and nothing that looks like a digit


class DeviceCodes(NamedTuple):
    device_code: str  # the device's secret
    user_code: str  # the one that the device shows


def ask(connection: Connection, *, client: str, at: datetime) -> DeviceCodes:
    """Start a login for a device; it can be approved for 15 minutes."""
    letters = "".join(secrets.choice(LETTERS) for _ in range(8))
    codes = DeviceCodes(secrets.token_urlsafe(32), f"{letters[:4]}-{letters[4:]}")
    row = {"device_hash": keys.digest(codes.device_code), "user_code": codes.user_code, "client": client}
    connection.execute(insert(device_logins).values(**row, created_at=at, expires_at=at + LIFETIME))
    return codes


def find(connection: Connection, user_code: str, *, at: datetime) -> Any:
    """Return the row of the waiting login with this code; `client` is untrusted text. Raises NotFound."""
    login = connection.execute(select(device_logins).where(*_open(user_code, at))).one_or_none()
    hint = "Compare it with your terminal; codes last 15 minutes."
    return required(login, errors.NotFound("No login waits with this code.", hint=hint))


def decide(connection: Connection, user_code: str, *, user_id: int, approved: bool, at: datetime) -> None:
    """Approve or reject a login as a member; a decision is final. Raises NotFound."""
    find(connection, user_code, at=at)
    decided = update(device_logins).where(*_open(user_code, at)).values(user_id=user_id, approved=approved)
    if connection.execute(decided).rowcount == 0:
        raise errors.NotFound


def poll(connection: Connection, device_code: str, *, at: datetime) -> sessions.Started | ServiceError:
    """Return the device's session once the login is approved, else an error, which is raised after the commit."""
    mine = device_logins.c.device_hash == keys.digest(device_code)
    login: Any = connection.execute(select(device_logins).where(mine).with_for_update()).one_or_none()
    if login is None or login.expires_at <= at:
        return errors.ExpiredToken()
    if login.approved is None:  # each early poll makes the interval longer (RFC 8628, 3.5)
        due_at = login.polled_at and login.polled_at + timedelta(seconds=login.interval_seconds) - TOLERANCE
        is_early = due_at is not None and at < due_at
        seconds = login.interval_seconds + (SLOWER_SECONDS if is_early else 0)
        connection.execute(update(device_logins).where(mine).values(polled_at=at, interval_seconds=seconds))
        return errors.SlowDown() if is_early else errors.AuthorizationPending()
    connection.execute(delete(device_logins).where(mine))
    if not login.approved:
        return errors.AccessDenied()
    return sessions.start(connection, login.user_id, client=login.client, at=at)


def _open(user_code: str, at: datetime) -> tuple[Any, ...]:
    login = device_logins.c
    return (login.user_code == user_code.upper(), login.expires_at > at, login.approved.is_(None))
