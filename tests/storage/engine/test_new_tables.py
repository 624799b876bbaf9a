"""Plans of PostgreSQL: made for new tables once they fill, and anew after a newer version migrated."""

import asyncio

from sqlalchemy import Connection, select, text

import background
import storage
from storage import Storage
from storage.engine import new_tables
from storage.engine.program_nodes import is_distributed
from storage.tables import workspaces
from tests.world import World

FLUSH = text("SELECT pg_stat_force_next_flush()")  # what a connection did is counted within a second otherwise


async def test_a_table_is_analyzed_once_it_has_rows_and_then_left_to_autovacuum(store: Storage, acme: World):
    keeps_rows = await store.read(
        lambda connection: connection.dialect.name != "sqlite" and not is_distributed(connection)
    )
    assert await analyzed(store) == []

    await asyncio.gather(*(acme.customer(f"user-{n}") for n in range(250)))

    assert await analyzed(store) == (["customers"] if keeps_rows else [])  # the nodes of Citus look at their own
    assert await analyzed(store) == []
    await background.analyze_new_tables(store)


async def analyzed(store: Storage) -> list[str]:
    def analyze(connection: Connection) -> list[str]:
        return [name for name in new_tables.analyze(connection) if name == "customers"]

    def flush(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":
            connection.execute(FLUSH)

    await store.write(flush)
    result: list[str] = await store.write(analyze)
    return result


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
