"""A write and a read that the tests of the engine share: names of workspaces."""

from sqlalchemy import Connection, insert, select

from storage import Storage
from storage.tables import workspaces
from tests.world import NOW


def add(connection: Connection, name: str) -> str:
    connection.execute(insert(workspaces).values(name=name, created_at=NOW))
    return name


async def names(store: Storage) -> list[str]:
    ordered = select(workspaces.c.name).order_by(workspaces.c.name)
    return await store.read(lambda connection: list(connection.execute(ordered).scalars()))
