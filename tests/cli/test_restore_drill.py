"""The restore drill of docs/operations.md on PostgreSQL: a dump, an empty database, the check."""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

import storage
from cli.admin import app
from storage.engine import copying
from tests import postgres, world


def test_a_dump_is_restored_into_an_empty_database_and_its_totals_match(
    postgres_url: str, empty_postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    before = asyncio.run(_fill(postgres_url))

    _run("pg_dump", "--format=custom", f"--file={tmp_path}/svc.dump", _libpq(postgres_url))
    _run("pg_restore", "--exit-on-error", f"--dbname={_libpq(empty_postgres_url)}", f"{tmp_path}/svc.dump")
    monkeypatch.setenv("SVC_DATABASE_URL", empty_postgres_url)
    checked = CliRunner().invoke(app, ["db", "check", "--json"])

    assert (checked.exit_code, checked.stdout) == (0, '{"ok": true, "differences": []}\n')
    assert asyncio.run(_counts(empty_postgres_url)) == before


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


def _libpq(url: str) -> str:
    return url.replace("+asyncpg", "")


def _run(program: str, *arguments: str) -> None:
    folder = postgres.binaries()
    assert folder is not None
    subprocess.run([folder / program, *arguments], check=True, env={"PATH": os.environ["PATH"]})
