"""The token of each lane's last batch, written in that batch's transaction, so that its outcome can be looked up."""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import Connection, func, select

from storage.engine.database import insert_for
from storage.engine.recurring import delete_some
from storage.tables import committed_batches, program_batches

KEPT_DAYS = 1
_PROBE = secrets.token_hex(16)  # the row of this process's probes


def probe(connection: Connection, *, at: datetime) -> None:
    """Store a row; the lane raises StorageUnavailable while storing does not work."""
    stored = insert_for(connection)(committed_batches).values(lane=_PROBE, token="", at=at)
    connection.execute(stored.on_conflict_do_update(index_elements=["lane"], set_={"at": stored.excluded.at}))


def newest(connection: Connection) -> datetime | None:
    """Return the time of the newest batch or probe: on a replica, how far it has come."""
    at: datetime | None = connection.execute(select(func.max(committed_batches.c.at))).scalar_one()
    return at


def prune(connection: Connection, *, at: datetime) -> int:
    """Delete the rows of lanes that have committed nothing for a day, a chunk of them; return how many."""
    oldest = at - timedelta(days=KEPT_DAYS)
    return sum(delete_some(connection, table, table.c.at < oldest) for table in (committed_batches, program_batches))
