"""Migrations: an empty database becomes what the models say, once, however many processes start together."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, func, select, table

import storage
from storage import Storage, migrations
from storage.tables import metadata

ROOT = Path(__file__).parent.parent.parent


def difference(connection: Connection) -> list[Any]:
    context = MigrationContext.configure(connection, opts={"compare_type": True, "target_metadata": metadata})
    return list(compare_metadata(context, metadata))


async def test_models_and_migrations_agree(store: Storage):
    assert await store.write(difference) == []


async def test_a_migrated_database_says_that_it_is(store: Storage):
    assert await store.read(migrations.is_current)


async def test_upgrading_again_changes_nothing(database_url: str):
    await migrations.upgrade(database_url)

    async with storage.opened(database_url) as store:
        assert await store.read(migrations.is_current)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_processes_that_start_together_migrate_once(kind: str, request: Any, tmp_path: Path):
    empty = f"sqlite+aiosqlite:///{tmp_path}/empty.db"
    url = empty if kind == "sqlite" else request.getfixturevalue("empty_postgres_url")
    command = [sys.executable, "-m", "cli", "admin", "db", "upgrade", "--json"]
    environment = os.environ | {"SVC_DATABASE_URL": url, "PYTHONPATH": str(ROOT)}

    started = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(3)
    ]
    problems = [process.communicate()[1].decode() for process in started]

    assert [process.returncode for process in started] == [0, 0, 0], problems
    assert asyncio.run(applied(url)) == 1


async def applied(url: str) -> int:
    versions = select(func.count()).select_from(table("alembic_version"))
    async with storage.opened(url) as store:
        return await store.read(lambda connection: connection.execute(versions).scalar_one())
