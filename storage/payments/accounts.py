"""A program's connected payment account; its webhook secrets are stored encrypted, two of them during a roll-over."""

from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select, update

from storage.engine import audit
from storage.engine.audit import Actor, Change
from storage.engine.sealing import Sealer
from storage.rules.errors import NotFound
from storage.tables import payment_accounts

MOST_SECRETS = 2


class PaymentAccount(NamedTuple):
    """A connected account; `sealed` are its webhook secrets, the newest first."""

    program_id: int
    provider: str
    account_id: str
    connected_at: datetime
    sealed: tuple[str, ...]


def get_account(connection: Connection, program_id: int) -> PaymentAccount:
    """Return a program's account. Raises NotFound when none is connected."""
    row = connection.execute(_mine(program_id)).one_or_none()
    if row is None:
        raise NotFound("No payment account is connected.")
    return _of_row(row)


def lock(connection: Connection, program_id: int) -> None:
    """Let one transaction at a time process a program's events, before it locks any other row."""
    connection.execute(_mine(program_id).with_for_update())


def find_account_id(connection: Connection, program_id: int) -> str | None:
    """Return the id of a program's account, None if none is connected."""
    mine = payment_accounts.c.program_id == program_id
    return connection.execute(select(payment_accounts.c.account_id).where(mine)).scalar()


def connect(
    connection: Connection,
    program_id: int,
    *,
    provider: str,
    account_id: str,
    secret: str,
    sealer: Sealer,
    actor: Actor,
    at: datetime,
) -> PaymentAccount:
    """Connect an account, or change it. A new secret works beside the previous one; older ones are dropped.

    Secrets of another account are deleted. The audit log says what changed, never a secret.
    """
    before = connection.execute(_mine(program_id).with_for_update()).one_or_none()
    earlier = _of_row(before).sealed if before is not None and before.account_id == account_id else ()
    others = tuple(sealed for sealed in earlier if sealer.open(sealed) != secret)
    sealed_secrets = "\n".join((sealer.seal(secret), *others)[:MOST_SECRETS])
    values = {"provider": provider, "account_id": account_id, "sealed_secrets": sealed_secrets}
    if before is None:
        connection.execute(insert(payment_accounts).values(program_id=program_id, connected_at=at, **values))
    else:
        connection.execute(update(payment_accounts).where(payment_accounts.c.program_id == program_id).values(values))
    known = None if before is None else before.account_id
    entries = [Change("payment_account.connect", program_id, "account_id", known, account_id)]
    audit.write(connection, program_id, entries, actor=actor, at=at)
    return get_account(connection, program_id)


def disconnect(connection: Connection, program_id: int, *, actor: Actor, at: datetime) -> None:
    """Delete a program's account and its secrets; its sales stay. Raises NotFound."""
    account = get_account(connection, program_id)
    connection.execute(delete(payment_accounts).where(payment_accounts.c.program_id == program_id))
    entries = [Change("payment_account.disconnect", program_id, "account_id", account.account_id)]
    audit.write(connection, program_id, entries, actor=actor, at=at)


def reseal(connection: Connection, sealer: Sealer) -> int:
    """Encrypt every secret with the sealer's newest key; return how many accounts. Raises UnreadableSecretError."""
    accounts = [_of_row(row) for row in connection.execute(select(payment_accounts).with_for_update())]
    for account in accounts:
        sealed = "\n".join(map(sealer.reseal, account.sealed))
        mine = payment_accounts.c.program_id == account.program_id
        connection.execute(update(payment_accounts).where(mine).values(sealed_secrets=sealed))
    return len(accounts)


def _mine(program_id: int) -> Any:
    return select(payment_accounts).where(payment_accounts.c.program_id == program_id)


def _of_row(row: Any) -> PaymentAccount:
    sealed = tuple(row.sealed_secrets.splitlines())
    return PaymentAccount(row.program_id, row.provider, row.account_id, row.connected_at, sealed)
