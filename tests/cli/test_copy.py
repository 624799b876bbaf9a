"""`svc admin copy`: every row arrives, on either database, also after an interruption."""

import asyncio
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import typer
from sqlalchemy import select

from cli.admin import backup as command
from storage.access import workspaces
from storage.engine import copying
from tests.cli.conftest import Svc, execute
from tests.test_journeys import stored

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def filled(demo: Path, tmp_path: Path) -> str:
    """The URL of a database that holds the demo's workspace."""
    return f"sqlite+aiosqlite:///{shutil.copy(demo, tmp_path / 'filled.db')}"


def rows(url: str) -> dict[str, list[Any]]:

    def read(connection: Any) -> dict[str, list[Any]]:
        return {table.name: sorted(map(repr, connection.execute(select(table)))) for table in copying.TABLES}

    return asyncio.run(stored(url, lambda store: store.read(read)))


def test_a_database_moves_to_postgresql_and_back_and_new_rows_get_ids_that_were_never_used(
    filled: str, empty_postgres_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    back = f"sqlite+aiosqlite:///{tmp_path}/back.db"
    execute(
        tmp_path / "filled.db", "UPDATE sqlite_sequence SET seq = 7 WHERE name = 'workspaces'"
    )  # 2 to 7 are deleted

    command.copy(filled, empty_postgres_url)
    command.copy(empty_postgres_url, back)

    assert rows(filled) == rows(empty_postgres_url) == rows(back)
    assert "all totals match the events" in capsys.readouterr().out
    owner: Any = {"owner_email": "gus@globex.example", "password_hash": "-", "at": AT}
    for copied in (empty_postgres_url, back):
        workspace_id, _ = asyncio.run(stored(copied, lambda store: store.write(workspaces.create, "Globex", **owner)))
        assert workspace_id == 8


def test_an_interrupted_copy_goes_on_and_doubles_nothing_and_is_not_served_meanwhile(
    filled: str, sqlite_url: str, svc: Svc, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(copying, "ROWS_AT_ONCE", 40)
    full = "WHEN (SELECT count(*) FROM sales) >= 100 BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
    execute(svc.database, f"CREATE TRIGGER full BEFORE INSERT ON sales {full}")

    with pytest.raises(typer.Exit):
        command.copy(filled, sqlite_url)
    execute(svc.database, "DROP TRIGGER full")
    halfway = len(rows(sqlite_url)["sales"])
    served = svc("serve", "--port", 0, SVC_DATABASE_URL=sqlite_url)
    command.copy(filled, sqlite_url, as_json=True)

    copied = capsys.readouterr()
    result = json.loads(copied.out.splitlines()[-1])
    assert (halfway, served.code) == (80, 1)
    assert "\nError: `svc admin copy` into this database was interrupted" in served.stderr
    assert (result["ok"], result["tables"]["clicks"]["to"] > 5_000, copied.err.count("clicks: ")) == (True, True, 1)
    assert rows(filled) == rows(sqlite_url)
    assert execute(svc.database, "SELECT name FROM sqlite_master WHERE name = 'copy_progress'") == []


def test_a_source_that_changed_meanwhile_is_reported_and_no_full_target_is_filled(
    filled: str, sqlite_url: str, svc: Svc, capsys: pytest.CaptureFixture[str]
):
    late = "INSERT INTO currency_rates VALUES ('XTS', '2026-11-20', '1')"
    execute(svc.database, f"CREATE TRIGGER late AFTER INSERT ON refunds WHEN new.rowid = 1 BEGIN {late}; END")

    for target in (sqlite_url, sqlite_url, filled):
        with pytest.raises(typer.Exit):
            command.copy(filled, target, as_json=True)

    result, *rejected = map(json.loads, capsys.readouterr().out.splitlines())
    assert (result["ok"], result["tables"]["currency_rates"]) == (False, {"from": 0, "to": 1})
    assert result["differences"] == {"from": [], "to": []}
    assert [each["error"]["code"] for each in rejected] == ["target_not_empty", "same_database"]
