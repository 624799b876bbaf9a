"""Backups and restores: `svc admin backup` on SQLite, and the drill of docs/operations.md on PostgreSQL."""

import asyncio
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select
from typer.testing import CliRunner

from cli.admin import app
from storage import Storage, migrations
from storage.engine import copying
from tests import postgres, world
from tests.cli.conftest import Svc, execute
from tests.test_journeys import stored
from tests.test_two_versions import RELEASED


def workspaces(svc: Svc, name: str = "svc.db") -> list[str]:
    return [workspace for (workspace,) in execute(svc.folder / name, "SELECT name FROM workspaces ORDER BY id")]


@pytest.fixture
def acme(svc: Svc, sqlite_template: Path) -> Svc:
    shutil.copy(sqlite_template, svc.database)
    create(svc, "Acme")
    return svc


def create(svc: Svc, name: str) -> None:
    execute(svc.database, f"INSERT INTO workspaces (name, created_at) VALUES ('{name}', '2026-11-20 12:00:00')")


def test_a_backup_is_restored_and_the_previous_database_is_saved(acme: Svc):
    made = acme("admin", "backup", "copy.db", "--json")
    create(acme, "Globex")

    restored = acme("admin", "restore", "copy.db", "--json")

    assert (made.code, made.json["ok"], restored.code, restored.json["ok"]) == (0, True, 0, True)
    assert stat.S_IMODE((acme.folder / "copy.db").stat().st_mode) == 0o600
    assert workspaces(acme) == workspaces(acme, "copy.db") == ["Acme"]
    assert workspaces(acme, restored.json["kept"]) == ["Acme", "Globex"]
    assert [path.name for path in acme.folder.iterdir() if path.name.startswith(".")] == []


def test_a_service_is_backed_up_while_it_runs_and_not_restored(acme: Svc):
    with acme.serving() as (_, address):
        made = acme("admin", "backup", "copy.db")
        rejected = acme("admin", "restore", "copy.db", "--json")

        assert httpx.get(f"{address}/readyz", timeout=60).status_code == 200
    assert made.code == 0
    assert (rejected.code, rejected.json["error"]["code"]) == (1, "service_running")
    assert acme("admin", "restore", "copy.db").code == 0


def test_a_backup_overwrites_nothing_and_garbage_is_not_restored(acme: Svc):
    (acme.folder / "copy.db").write_text("garbage " * 1000)

    backup = acme("admin", "backup", "copy.db", "--json")
    restore = acme("admin", "restore", "copy.db", "--json")

    assert (backup.code, backup.json["error"]["code"]) == (1, "file_exists")
    assert (restore.code, restore.json["error"]["code"]) == (1, "not_a_database")
    assert (acme.folder / "copy.db").read_text() == "garbage " * 1000
    assert workspaces(acme) == ["Acme"]


def test_an_upgrade_can_be_rolled_back(svc: Svc, tmp_path: Path, record_property: Callable[[str, object], None]):
    old, kept = tmp_path / "old", "svc.db.before-upgrade-"
    with tarfile.open(RELEASED) as archive:
        archive.extractall(old, filter="data")

    def released(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(old), "PYTHONWARNINGS": "ignore"}
        command = [sys.executable, "-m", "cli", "admin", *arguments]
        return subprocess.run(command, cwd=svc.folder, env=environment, capture_output=True, text=True, check=False)

    assert released("db", "upgrade").returncode == 0
    create(svc, "Acme")
    made = svc("admin", "backup", "old.db")  # this version's command on the old schema
    assert svc("admin", "db", "upgrade").code == 0
    (copy,) = svc.folder.glob(f"{kept}*")
    create(svc, "Globex")
    rejected = released("db", "check")
    began = time.monotonic()
    migrated = svc("admin", "restore", copy.name, "--as-is")
    back = released("db", "check")
    record_property("seconds", time.monotonic() - began)

    assert (made.code, migrated.code, back.returncode) == (0, 0, 0), back.stderr
    assert (rejected.returncode, len(rejected.stderr.splitlines())) == (1, 2)
    assert workspaces(svc) == workspaces(svc, "old.db") == ["Acme"]
    beside = [path.name for path in svc.folder.iterdir() if path.name.startswith((copy.name, "old.db"))]
    assert sorted(beside) == ["old.db", copy.name]


def test_differences_are_reported_with_the_backup(acme: Svc):
    wrong = "INSERT INTO rollups (program_id, day, clicks) VALUES (1, '2026-11-20', 8)"
    execute(acme.database, "PRAGMA foreign_keys = OFF", wrong)

    made = acme("admin", "backup", "copy.db", "--json")

    assert (made.code, made.json["ok"], len(made.json["differences"])) == (1, False, 1)
    assert (acme.folder / "copy.db").exists()


def test_postgresql_is_backed_up_with_its_own_tools(svc: Svc):
    url = "postgresql+asyncpg://svc:hunter2@db.example/svc"

    rejected = svc("admin", "backup", "copy.dump", SVC_DATABASE_URL=url)

    assert rejected.code == 1
    assert "pg_dump --format=custom --file=copy.dump postgresql://svc:***@db.example/svc" in rejected.stderr


def test_a_dump_is_restored_into_an_empty_database_and_its_totals_match(
    postgres_url: str, empty_postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = _fill(postgres_url)

    _run("pg_dump", "--format=custom", f"--file={tmp_path}/svc.dump", _libpq(postgres_url))
    _run("pg_restore", "--exit-on-error", f"--dbname={_libpq(empty_postgres_url)}", f"{tmp_path}/svc.dump")

    _assert_the_check_agrees(empty_postgres_url, monkeypatch)
    assert _counts(empty_postgres_url) == before


@pytest.mark.postgresql
def test_archived_wal_is_replayed_to_a_point_in_time(monkeypatch: pytest.MonkeyPatch):
    with postgres.running(settings=postgres.ARCHIVED) as server:
        asyncio.run(migrations.upgrade(server.url))
        copy = server.back_up()
        before = _fill(server.url)
        clock = select(func.clock_timestamp())
        read = stored(server.url, lambda store: store.read(lambda connection: connection.execute(clock).scalar_one()))
        target = asyncio.run(read)
        assert _fill(server.url) != before

        server.restore(copy, to=target)

        _assert_the_check_agrees(server.url, monkeypatch)
        assert _counts(server.url) == before


def _assert_the_check_agrees(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_DATABASE_URL", url)
    checked = CliRunner().invoke(app, ["db", "check", "--json"])
    assert (checked.exit_code, checked.stdout) == (0, '{"ok": true, "differences": []}\n')


def _fill(url: str) -> dict[str, int]:
    async def fill(store: Storage) -> None:
        acme = await world.acme(store)
        await acme.customer()
        await acme.sale()
        await acme.refund(amount_cents=1_000)

    asyncio.run(stored(url, fill))
    return _counts(url)


def _counts(url: str) -> dict[str, int]:
    return asyncio.run(stored(url, lambda store: store.read(copying.counts)))


def _libpq(url: str) -> str:
    return url.replace("+asyncpg", "")


def _run(program: str, *arguments: str) -> None:
    folder = postgres.binaries()
    assert folder is not None
    subprocess.run([folder / program, *arguments], check=True, env={"PATH": os.environ["PATH"]})
