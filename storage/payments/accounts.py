"""A program's connected payment account; its webhook secrets are stored encrypted, two of them during a roll-over."""

from typing import Any

from sqlalchemy import Connection, delete, select

from storage.engine import audit
from storage.engine.database import insert_for
from storage.engine.sealing import Sealer
from storage.rules.errors import NotFound, required
from storage.tables import payment_accounts

MOST_SECRETS = 2


def find_account(connection: Connection, program_id: int) -> Any:
    """Return the row of a program's account, None without one; its `sealed_secrets` are lines, the newest first."""
    return connection.execute(_mine(program_id)).one_or_none()


def get_account(connection: Connection, program_id: int) -> Any:
    """Return the row of a program's account. Raises NotFound."""
    return required(find_account(connection, program_id), NotFound("No payment account is connected."))


def lock(connection: Connection, program_id: int) -> None:
    """Let one transaction at a time process a program's events, before it locks any other row."""
    connection.execute(_mine(program_id).with_for_update())


def connect(
    connection: Connection,
    program_id: int,
    *,
    provider: str,
    account_id: str,
    secret: str,
    sealer: Sealer,
    by: audit.By,
) -> Any:
    """Connect an account, or change it; of the same account, a new secret works beside the previous one."""
    before = connection.execute(_mine(program_id).with_for_update()).one_or_none()
    earlier = before.sealed_secrets.splitlines() if before is not None and before.account_id == account_id else []
    others = [sealed for sealed in earlier if sealer.open(sealed) != secret]
    sealed_secrets = "\n".join([sealer.seal(secret), *others][:MOST_SECRETS])
    values = {"provider": provider, "account_id": account_id, "sealed_secrets": sealed_secrets}
    row = insert_for(connection)(payment_accounts).values(program_id=program_id, connected_at=by.at, **values)
    connection.execute(row.on_conflict_do_update(index_elements=["program_id"], set_=values))
    known = None if before is None else before.account_id
    entries = [audit.Change("payment_account.connect", program_id, "account_id", known, account_id)]
    audit.write(connection, program_id, entries, by=by)
    return get_account(connection, program_id)


def disconnect(connection: Connection, program_id: int, *, by: audit.By) -> None:
    """Delete a program's account and its secrets; its sales stay. Raises NotFound."""
    account = get_account(connection, program_id)
    connection.execute(delete(payment_accounts).where(payment_accounts.c.program_id == program_id))
    entries = [audit.Change("payment_account.disconnect", program_id, "account_id", account.account_id)]
    audit.write(connection, program_id, entries, by=by)


def _mine(program_id: int) -> Any:
    return select(payment_accounts).where(payment_accounts.c.program_id == program_id)
