"""Nothing behind /mcp can write: not by its type, not by its connection, not on a disk that takes nothing."""

import contextlib
import hashlib
import sqlite3
from pathlib import Path

import pytest

import mcp_server.app
import storage
from storage import Reader, Storage
from storage.access import agent_keys
from storage.rules.scope import Scope
from tests import world
from tests.mcp_server.conftest import EVERY_TOOL, VERSIONS, Assistant, a_sale_and_a_rejection
from tests.world import NOW

pytestmark = pytest.mark.anyio


async def test_the_server_is_handed_a_reader_that_has_no_write(assistant: Assistant):
    reader = assistant.acme.store.reader

    assert type(reader) is Reader
    assert not isinstance(reader, Storage)
    assert not hasattr(reader, "write")
    assert [value for value in vars(reader).values() if isinstance(value, list | tuple | dict | Storage)] == []


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO tracking_log VALUES (1, 1, 'x', 'x', NULL, 1)",
        "UPDATE programs SET name = 'x'",
        "DELETE FROM clicks",
        "CREATE TEMP TABLE x (y)",
        "PRAGMA query_only = OFF",
        "ATTACH 'other.db' AS other",
    ],
)
async def test_its_connection_rejects_to_write(assistant: Assistant, sql: str):
    with pytest.raises(Exception, match=r"not authorized|readonly"):
        await assistant.acme.store.reader.read(lambda connection: connection.exec_driver_sql(sql))


@pytest.fixture
async def written(sqlite_url: str) -> tuple[Path, str]:
    """A database with events whose last writer has closed it (all of it is in one file), and a key of it."""
    path = Path(sqlite_url.partition(":///")[2])
    async with storage.opened(sqlite_url) as store:
        acme = await world.acme(store)
        await a_sale_and_a_rejection(acme)
        issued = await store.write(agent_keys.issue, acme.workspace_id, name="R", scopes=tuple(Scope), at=NOW)
    return path, issued.secret


@pytest.fixture
def file(written: tuple[Path, str]) -> Path:
    """That file, read-only on disk, and in WAL mode as the service leaves it."""
    path, _ = written
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    path.chmod(0o444)
    assert not path.with_name(f"{path.name}-wal").exists()
    return path


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


async def test_every_tool_works_on_a_read_only_file_and_does_not_change_it(file: Path, written: tuple[Path, str]):
    before = digest(file)
    async with storage.opened(f"sqlite+aiosqlite:///{file}") as store:
        acme = world.World(store, 1, 1, 1, "", 1, 2)
        assistant = Assistant(acme, acme)
        assistant.good = written[1]
        async with assistant.serving():
            for version in VERSIONS:
                for name, asked in EVERY_TOOL.items():
                    assert (await assistant.tool(name, version=version, **asked)).payload

    assert digest(file) == before


async def test_the_use_of_a_key_is_not_recorded(assistant: Assistant):
    await assistant.tool("list_programs")

    (key,) = await assistant.acme.store.read(agent_keys.list_all, workspace_id=assistant.acme.workspace_id)
    assert key.last_used_at is None
    assert mcp_server.app.serving.__annotations__["reader"] is Reader
