"""How a batch is found again: the row of its lane holds its token, written in the batch's own transaction."""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import Connection, delete

from storage.engine.database import insert_for
from storage.tables import committed_batches

KEPT_DAYS = 1
_PROBE = secrets.token_hex(16)  # the row of this process's probes


def probe(connection: Connection, *, at: datetime) -> None:
    """Store something: raises StorageUnavailable, through the lane, while storing does not work."""
    stored = insert_for(connection)(committed_batches).values(lane=_PROBE, token="", at=at)
    connection.execute(stored.on_conflict_do_update(index_elements=["lane"], set_={"at": stored.excluded.at}))


def prune(connection: Connection, *, at: datetime) -> int:
    """Forget lanes that have committed nothing for a day; return how many."""
    return connection.execute(
        delete(committed_batches).where(committed_batches.c.at < at - timedelta(days=KEPT_DAYS))
    ).rowcount
