"""A newer version migrates the database beside a running service: its prepared statements are prepared again."""

from sqlalchemy import Connection, select, text

import storage
from storage.tables import workspaces


async def test_a_lane_prepares_anew_what_a_migration_changed_beside_it(postgres_url: str):
    named = select(workspaces.c.name)

    def read(connection: Connection) -> list[str]:
        return list(connection.execute(named).scalars())

    def change(connection: Connection, to: str) -> None:
        connection.execute(text(f"ALTER TABLE workspaces ALTER COLUMN name TYPE {to}"))

    async with storage.opened(postgres_url) as store, storage.opened(postgres_url) as newer:
        before = await store.read(read)
        await newer.write(change, "TEXT")

        assert (before, await store.read(read)) == ([], [])
        await newer.write(change, "VARCHAR(512)")  # on a cluster other tests use the table, too
