"""OAuth clients of assistants: they register themselves (RFC 7591), or their id is the URL of their document."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, exists, or_, select, update

from storage.engine.database import insert_for
from storage.engine.recurring import delete_some
from storage.tables import assistant_clients, assistants

UNUSED_FOR = timedelta(days=7)
FORGOTTEN_AFTER = timedelta(days=365)


class AssistantClient(NamedTuple):
    """A public client, which has no secret. It chose its own `name`, which is untrusted text."""

    client_id: str
    name: str
    redirect_uris: tuple[str, ...]
    kept_at: datetime


def find(connection: Connection, client_id: str) -> AssistantClient | None:
    """Return a client, or None if it is unknown."""
    known = select(assistant_clients).where(assistant_clients.c.client_id == client_id)
    row: Any = connection.execute(known).one_or_none()
    return row and AssistantClient(row.client_id, row.name, tuple(row.redirect_uris.split("\n")), row.kept_at)


def save(connection: Connection, client: AssistantClient) -> None:
    """Save a client, replacing any earlier version of it."""
    values = {"name": client.name, "redirect_uris": "\n".join(client.redirect_uris), "kept_at": client.kept_at}
    new = insert_for(connection)(assistant_clients).values(client_id=client.client_id, **values)
    connection.execute(new.on_conflict_do_update(index_elements=["client_id"], set_=values))


def use(connection: Connection, client_id: str, *, at: datetime) -> None:
    """Record that a member connected a client."""
    connection.execute(update(assistant_clients).where(assistant_clients.c.client_id == client_id).values(used_at=at))


def prune(connection: Connection, *, at: datetime) -> int:
    """Delete a chunk of the clients without a connection for a week, or for a year if they once had one; count them."""
    client = assistant_clients.c
    never = and_(client.used_at.is_(None), client.kept_at <= at - UNUSED_FOR)
    connected = exists().where(assistants.c.client_id == client.client_id)
    forgotten = or_(never, client.used_at <= at - FORGOTTEN_AFTER)
    return delete_some(connection, assistant_clients, forgotten, ~connected)
