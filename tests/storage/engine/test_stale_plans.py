"""A newer version migrates the database beside a running service: its prepared statements are prepared again."""

from sqlalchemy import Connection, select, text

import storage
from storage.tables import workspaces


async def test_a_lane_prepares_anew_what_a_migration_changed_beside_it(postgres_url: str):
    named = select(workspaces.c.name)

    def read(connection: Connection) -> list[str]:
        return list(connection.execute(named).scalars())

    def widen(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE workspaces ALTER COLUMN name TYPE TEXT"))

    async with storage.opened(postgres_url) as store, storage.opened(postgres_url) as newer:
        before = await store.read(read)
        await newer.write(widen)

        assert (before, await store.read(read)) == ([], [])
