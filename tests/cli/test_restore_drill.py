"""The restore drill of docs/operations.md on PostgreSQL: a dump or archived WAL, the check, and the counts."""

import asyncio
import os
import subprocess
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import func, select
from typer.testing import CliRunner

import storage
from cli.admin import app
from storage import migrations
from storage.engine import copying
from tests import postgres, world


def test_a_dump_is_restored_into_an_empty_database_and_its_totals_match(
    postgres_url: str, empty_postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = asyncio.run(_fill(postgres_url))

    _run("pg_dump", "--format=custom", f"--file={tmp_path}/svc.dump", _libpq(postgres_url))
    _run("pg_restore", "--exit-on-error", f"--dbname={_libpq(empty_postgres_url)}", f"{tmp_path}/svc.dump")

    _assert_the_check_agrees(empty_postgres_url, monkeypatch)
    assert asyncio.run(_counts(empty_postgres_url)) == before


@pytest.mark.postgresql
def test_archived_wal_is_replayed_to_a_point_in_time(monkeypatch: pytest.MonkeyPatch):
    with postgres.running(settings=postgres.ARCHIVED) as server:
        asyncio.run(migrations.upgrade(server.url))
        copy = server.back_up()
        before = asyncio.run(_fill(server.url))
        target = asyncio.run(_clock(server.url))
        assert asyncio.run(_fill(server.url)) != before

        server.restore(copy, to=target)
        asyncio.run(_replayed(server.url))

        _assert_the_check_agrees(server.url, monkeypatch)
        assert asyncio.run(_counts(server.url)) == before


def _assert_the_check_agrees(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_DATABASE_URL", url)
    checked = CliRunner().invoke(app, ["db", "check", "--json"])
    assert (checked.exit_code, checked.stdout) == (0, '{"ok": true, "differences": []}\n')


async def _fill(url: str) -> dict[str, int]:
    async with storage.opened(url, patient=True) as store:
        acme = await world.acme(store)
        await acme.customer()
        await acme.sale()
        await acme.refund(amount_cents=1_000)
    return await _counts(url)


async def _counts(url: str) -> dict[str, int]:
    async with storage.opened(url) as store:
        return await store.read(copying.counts)


async def _clock(url: str) -> datetime:
    async with storage.opened(url) as store:
        return await store.read(lambda connection: connection.execute(select(func.clock_timestamp())).scalar_one())


async def _replayed(url: str) -> None:
    """Wait until a server has replayed what it was told to: until then it accepts no connection."""
    connection = None
    while connection is None:
        with suppress(asyncpg.CannotConnectNowError):
            connection = await asyncpg.connect(_libpq(url))
    await connection.close()


def _libpq(url: str) -> str:
    return url.replace("+asyncpg", "")


def _run(program: str, *arguments: str) -> None:
    folder = postgres.binaries()
    assert folder is not None
    subprocess.run([folder / program, *arguments], check=True, env={"PATH": os.environ["PATH"]})
