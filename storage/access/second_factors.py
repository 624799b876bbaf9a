"""The second factor of an account: time-based codes (RFC 6238), and recovery codes that each work once."""

import hmac
import secrets
from datetime import datetime
from typing import NamedTuple

import pyotp
from sqlalchemy import Connection, delete, insert, select, update

from storage.access import accounts, sessions
from storage.access.sessions import Account, Started
from storage.engine.audit import By
from storage.engine.sealing import Sealer, UnreadableSecretError
from storage.rules import keys
from storage.rules.errors import InvalidCredentials, InvalidSecondFactor, SecondFactorExists, SecondFactorRequired
from storage.tables import recovery_codes, second_factors, users

STEP_SECONDS = 30
DRIFT = (0, -1, 1)  # steps that a device's clock may be off


class Enrolment(NamedTuple):
    """A secret for an authenticator app, shown once, also as a `uri`; it counts once a code is confirmed."""

    secret: str
    uri: str


def is_on(connection: Connection, user_id: int) -> bool:
    """Return whether an account needs a second factor to sign in."""
    confirmed = select(second_factors.c.confirmed_at).where(second_factors.c.user_id == user_id)
    return connection.execute(confirmed).scalar() is not None


def sign_in(
    connection: Connection, account: Account, *, code: str | None, sealer: Sealer, client: str | None, at: datetime
) -> Started:
    """Start a session if the verified password is still right. Raises InvalidCredentials, and what `require` does."""
    current = select(users.c.password_hash).where(users.c.id == account.user_id).with_for_update()
    if connection.execute(current).scalar_one() != account.password_hash:
        raise InvalidCredentials
    require(connection, account.user_id, code, sealer=sealer, at=at)
    return sessions.start(connection, account.user_id, client=client, at=at)


def require(connection: Connection, user_id: int, code: str | None, *, sealer: Sealer, at: datetime) -> None:
    """Accept a code of an account's second factor, if it has one. Raises SecondFactorRequired, InvalidSecondFactor."""
    if is_on(connection, user_id):
        if not code:
            raise SecondFactorRequired
        spend(connection, user_id, code, sealer=sealer, at=at)


def enrol(connection: Connection, user_id: int, *, email: str, sealer: Sealer) -> Enrolment:
    """Return a new secret, which counts once a code of it is confirmed. Raises SecondFactorExists."""
    if is_on(connection, user_id):
        raise SecondFactorExists
    secret = pyotp.random_base32()
    connection.execute(delete(second_factors).where(second_factors.c.user_id == user_id))
    connection.execute(insert(second_factors).values(user_id=user_id, sealed_secret=sealer.seal(secret), last_step=0))
    return Enrolment(secret, pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name="Affiliate tracking"))


def confirm(connection: Connection, user_id: int, otp: str, *, sealer: Sealer, by: By) -> list[str]:
    """Turn it on by a code; return recovery codes, shown once. Raises InvalidSecondFactor, SecondFactorExists."""
    if is_on(connection, user_id):
        raise SecondFactorExists
    if not _accept(connection, user_id, _plain(otp), sealer, by.at):
        raise InvalidSecondFactor
    connection.execute(update(second_factors).where(second_factors.c.user_id == user_id).values(confirmed_at=by.at))
    codes = ["-".join(secrets.token_hex(2) for _ in range(5)) for _ in range(10)]
    rows = [{"user_id": user_id, "code_hash": keys.digest(_plain(each))} for each in codes]
    connection.execute(insert(recovery_codes), rows)
    accounts.write_audit(connection, user_id, "account.enable_second_factor", by=by)
    return codes


def spend(connection: Connection, user_id: int, code: str, *, sealer: Sealer, at: datetime) -> None:
    """Accept a code of the app, later than the last one, or a recovery code, once. Raises InvalidSecondFactor."""
    if is_on(connection, user_id) and _accept(connection, user_id, _plain(code), sealer, at):
        return
    mine = (recovery_codes.c.user_id == user_id, recovery_codes.c.code_hash == keys.digest(_plain(code)))
    if connection.execute(delete(recovery_codes).where(*mine)).rowcount == 0:
        raise InvalidSecondFactor


def switch_off(connection: Connection, user_id: int, code: str, *, sealer: Sealer, by: By) -> None:
    """Turn the second factor off with one of its codes. Raises InvalidSecondFactor."""
    spend(connection, user_id, code, sealer=sealer, at=by.at)
    disable(connection, user_id, by=by)


def disable(connection: Connection, user_id: int, *, by: By) -> None:
    """Turn the second factor off; without one nothing happens."""
    connection.execute(delete(recovery_codes).where(recovery_codes.c.user_id == user_id))
    removed = connection.execute(delete(second_factors).where(second_factors.c.user_id == user_id))
    if removed.rowcount:
        accounts.write_audit(connection, user_id, "account.disable_second_factor", by=by)


def _accept(connection: Connection, user_id: int, code: str, sealer: Sealer, at: datetime) -> bool:
    """Return whether this is a code of now, and mark its time step as used."""
    row = second_factors.c
    sealed = connection.execute(select(row.sealed_secret).where(row.user_id == user_id)).scalar()
    try:
        app = pyotp.TOTP(sealer.open(sealed or ""))
    except UnreadableSecretError:
        return False
    now = int(at.timestamp()) // STEP_SECONDS
    fits = [now + off for off in DRIFT if hmac.compare_digest(app.generate_otp(now + off).encode(), code.encode())]
    if not fits:
        return False
    later = (row.user_id == user_id, row.last_step < fits[0])
    return connection.execute(update(second_factors).where(*later).values(last_step=fits[0])).rowcount == 1


def _plain(code: str) -> str:
    return code.replace(" ", "").replace("-", "").lower()
