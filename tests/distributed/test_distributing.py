"""`svc admin db distribute`: what it moves, that it can go on, and what `db check` says of a cluster."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import pytest
import typer
from alembic import command as alembic
from sqlalchemy import Connection, func, inspect, select, text

import storage
from cli.admin.db import check, distribute
from storage import Storage, migrations
from storage.checks import books
from storage.engine import citus, database
from storage.engine.citus import DistributionStep, is_distributed
from storage.rules.errors import StorageUnavailable
from storage.tables import metadata
from tests import postgres, world
from tests.citus import Cluster
from tests.citus import distribute as distribute_rest
from tests.storage.test_migrations import difference
from tests.test_journeys import stored

Done = TypeVar("Done")
FOREIGN_KEYS = text(
    "SELECT DISTINCT conname FROM pg_constraint WHERE conname ~ '^fk_' AND conname !~ '_[0-9]{6}$' ORDER BY 1"
)
FIRST_DISTRIBUTED = "0033"


def over(url: str, work: Callable[[Storage], Awaitable[Done]]) -> Done:
    return asyncio.run(stored(url, work))


async def fill(store: Storage) -> None:
    """Make two programs with events."""
    acme = await world.acme(store)
    for program in (acme, await world.program_of(store, acme.workspace_id, acme.owner_id)):
        await program.customer()
        await program.sale()
        await program.refund(amount_cents=100)


def rows(connection: Connection) -> dict[str, int]:
    tables = [*citus.ON_EVERY_NODE, *citus.KEYS, *citus.BY_PROGRAM]
    return {table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables}


def foreign_keys(connection: Connection) -> list[Any]:
    return list(connection.execute(FOREIGN_KEYS).scalars())


def test_a_filled_database_is_distributed_with_its_rows_and_again_changes_nothing(
    citus_cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    url = asyncio.run(citus_cluster.create_database("filled"))
    monkeypatch.setenv("SVC_DATABASE_URL", url)
    asyncio.run(migrations.upgrade(url))
    over(url, fill)
    before, keys = over(url, lambda store: store.read(rows)), over(url, lambda store: store.read(foreign_keys))

    distribute()
    first = capsys.readouterr()
    distribute()
    second = capsys.readouterr()
    check()

    assert "distribute clicks" in first.err
    assert "distribute clicks" not in second.err
    assert over(url, lambda store: store.read(rows)) == before
    assert over(url, lambda store: store.read(foreign_keys)) == keys
    assert over(url, lambda store: store.read(is_distributed))
    over(url, fill_again)


@pytest.mark.parametrize("has_rows", [False, True])
def test_each_step_can_be_the_one_that_is_interrupted(citus_cluster: Cluster, *, has_rows: bool):
    url = asyncio.run(citus_cluster.create_database(f"interrupted_{has_rows}".lower()))
    asyncio.run(migrations.upgrade(url))
    if has_rows:
        over(url, fill)
    before = over(url, lambda store: store.read(rows))

    interrupted = asyncio.run(distribute_with_interruptions(url))

    assert len(interrupted) > len(citus.BY_PROGRAM)
    assert over(url, lambda store: store.read(citus.missing_settings)) == []
    assert over(url, lambda store: store.read(rows)) == before
    assert over(url, lambda store: store.read(books.run)) == []


async def distribute_with_interruptions(url: str) -> list[str]:
    """Run each step twice, the first time cut off before its commit; what is left is looked up after each."""
    titles: list[str] = []
    async with storage.opened(url, patient=True) as store:
        while step := next((each for each in await store.read(citus.steps) if is_left(each, titles)), None):
            assert step.run is not None
            with suppress(StorageUnavailable):
                await store.write(cut_off, step.run)
            left = [each.title for each in await store.read(citus.steps) if is_left(each, titles)]
            assert left[0] == step.title
            await store.write(step.run)
            titles.append(step.title)
    return titles


def is_left(step: DistributionStep, titles: list[str]) -> bool:
    return step.run is not None and step.title not in titles


def cut_off(connection: Connection, run: Callable[[Connection], None]) -> None:
    """Do a step, and end the connection as kill -9 does: before the commit."""
    run(connection)
    connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))


async def fill_again(store: Storage) -> None:
    """Record events after the distribution."""
    other = await world.program_of(store, 1, 1)
    await other.customer()
    assert (await other.sale()).commission_cents == 2_000


def test_keys_that_an_older_version_copied_to_every_node_move_to_the_coordinator(citus_url: str):
    over(citus_url, fill)
    before = over(citus_url, lambda store: store.read(rows))
    for name in ("program_keys", "retired_program_keys"):
        copied = text(f"SELECT create_reference_table('{name}')")
        over(citus_url, lambda store, copied=copied: store.write(lambda connection: connection.execute(copied)))  # type: ignore[misc]
    lacking = over(citus_url, lambda store: store.read(citus.missing_settings))

    asyncio.run(distribute_rest(citus_url))

    assert [each.partition("(")[2].partition(")")[0] for each in lacking] == [
        "keep program_keys on the coordinator",
        "keep retired_program_keys on the coordinator",
    ]
    assert over(citus_url, lambda store: store.read(citus.missing_settings)) == []
    assert over(citus_url, lambda store: store.read(rows)) == before
    over(citus_url, fill_again)


def test_db_check_names_the_node_that_lacks_a_setting(
    citus_cluster: Cluster, citus_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("SVC_DATABASE_URL", citus_url)
    worker = citus_cluster.workers[0]
    url = f"{worker.url.rpartition('/')[0]}/service"
    lost = "ALTER ROLE postgres IN DATABASE service RESET enable_hashjoin"
    asyncio.run(postgres.execute(url, "SET citus.enable_ddl_propagation = off; " + lost))

    with pytest.raises(typer.Exit):
        check()
    shown = capsys.readouterr().out
    distribute()
    check()

    assert f"node 127.0.0.1:{worker.port} lacks enable_hashjoin = off" in shown


def test_every_later_migration_runs_on_a_distributed_database(citus_cluster: Cluster):
    url = asyncio.run(citus_cluster.create_database("migrated"))

    asyncio.run(migrate(url))
    asyncio.run(distribute_rest(url))  # places new tables, which get their foreign keys then

    assert over(url, lambda store: store.write(difference)) == []
    assert over(url, lambda store: store.read(migrations.is_current))


async def migrate(url: str) -> None:
    """Distribute a database at the first schema that can be, and bring it to the newest."""
    (lane, *_), _ = database.lanes(database.parse_url(url), patient=True)
    await lane.run(lambda connection: alembic.upgrade(migrations.config_for(connection), FIRST_DISTRIBUTED))
    there = await lane.run(lambda connection: set(inspect(connection).get_table_names()))
    later = {table.name for table in metadata.sorted_tables} - there
    for step in await lane.run(citus.steps):
        if step.run is not None and later.isdisjoint(step.title.split()):
            await lane.run(step.run)
    await lane.close()
    await migrations.upgrade(url)
