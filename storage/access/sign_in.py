"""Signing in: the session that a verified password, and the second factor if there is one, start."""

from datetime import datetime

from sqlalchemy import Connection, select

from storage.access import second_factors, sessions
from storage.access.sessions import Account, Started
from storage.engine.sealing import Sealer
from storage.rules.errors import InvalidCredentials, SecondFactorRequired
from storage.tables import users


def start(
    connection: Connection, account: Account, *, code: str | None, sealer: Sealer, client: str | None, at: datetime
) -> Started:
    """Start a session if the password that was verified is still the account's.

    Raises InvalidCredentials; for an account with a second factor SecondFactorRequired, InvalidSecondFactor.
    """
    current = select(users.c.password_hash).where(users.c.id == account.user_id).with_for_update()
    if connection.execute(current).scalar_one() != account.password_hash:
        raise InvalidCredentials
    if second_factors.is_on(connection, account.user_id):
        if not code:
            raise SecondFactorRequired
        second_factors.spend(connection, account.user_id, code, sealer=sealer, at=at)
    return sessions.start(connection, account.user_id, client=client, at=at)
