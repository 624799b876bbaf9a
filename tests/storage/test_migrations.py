"""Migrations: an empty database becomes what the models say, once, however many processes start together."""

import asyncio
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, column, func, select, table

import storage
from storage import Storage, migrations
from storage.engine import database
from storage.tables import metadata

ROOT = Path(__file__).parent.parent.parent


def difference(connection: Connection) -> list[Any]:
    by_month = database.is_server(connection)  # then clicks have no foreign key, and partitions as tables

    def is_in_models(item: Any, name: str | None, kind: str, *_: Any) -> bool:
        is_key = kind == "foreign_key_constraint" and item.table.name == "clicks"
        return not by_month or not (is_key or str(name).startswith("clicks_"))

    opts = {"compare_type": True, "target_metadata": metadata, "include_object": is_in_models}
    context = MigrationContext.configure(connection, opts=opts)
    return list(compare_metadata(context, metadata))


async def test_models_and_migrations_agree(database_url: str):
    async with storage.opened(database_url, patient=True) as store:  # Citus describes hundreds of tables
        assert await store.write(difference) == []


def test_two_processes_that_start_together_migrate_once(empty_url: str):
    command = [sys.executable, "-m", "cli", "admin", "db", "upgrade", "--json"]
    environment = os.environ | {"SVC_DATABASE_URL": empty_url, "PYTHONPATH": str(ROOT)}

    started = [
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(3)
    ]
    problems = [process.communicate()[1].decode() for process in started]

    assert [process.returncode for process in started] == [0, 0, 0], problems
    assert asyncio.run(applied(empty_url)) == 1


async def applied(url: str) -> int:
    versions = select(func.count()).select_from(table("alembic_version"))
    async with storage.opened(url) as store:
        return await store.read(lambda connection: connection.execute(versions).scalar_one())


async def test_a_running_process_goes_on_beside_a_later_version_and_not_on_an_older_schema(store: Storage):
    version = table("alembic_version", column("version_num"))
    head = await store.read(lambda connection: connection.execute(select(version.c.version_num)).scalar_one())

    states = []
    for revision in ("9999", "0001", "0029", head):  # at last its own: on a cluster other tests use the database, too
        to = version.update().values(version_num=revision)
        await store.write(Connection.execute, to)
        states.append((await store.read(migrations.is_usable), await store.read(migrations.is_current)))

    assert states == [(True, False), (False, False), (False, False), (True, True)]


def test_the_command_for_a_new_migration_writes_the_next_one_and_a_database_upgrades_to_it(tmp_path: Path):
    shutil.copytree(ROOT / "storage", tmp_path / "storage", ignore=shutil.ignore_patterns("__pycache__"))
    versions = tmp_path / "storage/migrations/versions"
    before = {path.name[:4] for path in versions.glob("*.py")}
    upgrade = "import asyncio, storage.migrations as m; asyncio.run(m.upgrade('sqlite+aiosqlite:///new.db'))"

    for command_line in (["-m", "storage.migrations", "Say something new"], ["-c", upgrade]):
        subprocess.run([sys.executable, *command_line], cwd=tmp_path, env=os.environ | {"PYTHONPATH": ""}, check=True)

    [written] = versions.glob("*_say_something_new.py")
    assert written.name[:4] == f"{int(max(before)) + 1:04}"
    with sqlite3.connect(tmp_path / "new.db") as new:
        assert new.execute("SELECT version_num FROM alembic_version").fetchall() == [(written.name[:4],)]


def test_a_migration_leaves_what_the_release_before_uses():
    """Expand first: what no release uses any more goes later, in a migration that says "Unused since 1.2.0"."""
    takes_away = re.compile(r"drop_table|drop_column|new_column_name|RENAME COLUMN|DROP (TABLE|COLUMN)")
    demands = re.compile(r"add_column\((?!.*server_default).*nullable=False")  # the release before does not fill it
    found = set()
    for path in (ROOT / "storage/migrations/versions").glob("*.py"):
        source = path.read_text(encoding="utf-8")
        upgrade = source[source.index("def upgrade") : source.index("def downgrade")]
        if (takes_away.search(upgrade) or demands.search(upgrade)) and not re.search(r"Unused since \d", source):
            found.add(path.name[:4])

    assert found <= {"0028"}  # from before the rule
