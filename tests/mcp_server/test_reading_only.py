"""Nothing behind /mcp can write: not by its type, not by its connection."""

import contextlib
import dataclasses
import sqlite3
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Connection

import mcp_server.app
import storage
from storage import Reader, Storage
from storage.access import agent_keys
from storage.engine import read_queue
from tests.mcp_server.conftest import Assistant
from tests.world import NOW

WRITING = [
    "INSERT INTO tracking_log VALUES (1, 1, 'x', 'x', NULL, 1)",
    "UPDATE programs SET name = 'x'",
    "DELETE FROM clicks",
    "CREATE TEMP TABLE x (y)",
    "PRAGMA query_only = OFF",
    "ATTACH 'other.db' AS other",
]


async def test_the_server_is_handed_a_reader_that_cannot_write(assistant: Assistant):
    reader = assistant.acme.store.reader

    assert type(reader) is Reader
    assert not isinstance(reader, Storage)
    assert not hasattr(reader, "write")
    assert [value for value in vars(reader).values() if isinstance(value, list | tuple | dict | Storage)] == []
    assert mcp_server.app.serving.__annotations__["reader"] is Reader
    for sql in WRITING:
        with pytest.raises(Exception, match=r"not authorized|readonly"):
            await reader.read(partial(Connection.exec_driver_sql, statement=sql))


async def test_the_use_of_a_key_is_not_recorded(assistant: Assistant):
    await assistant.tool("list_programs")

    (key,) = await assistant.acme.store.read(agent_keys.list_all, workspace_id=assistant.acme.workspace_id)
    assert key.last_used_at is None


def copied(url: str, folder: Path) -> str:
    """Copy a database that is in use, as a replica would."""
    target = folder / "replica.db"
    with (
        contextlib.closing(sqlite3.connect(url.partition(":///")[2])) as source,
        contextlib.closing(sqlite3.connect(target)) as written,
    ):
        source.backup(written)
    return f"sqlite+aiosqlite:///{target}"


async def test_results_say_how_far_the_replica_is_and_a_revoked_key_is_dead_at_once(
    unserved: Assistant, database_url: str, tmp_path: Path
):
    await unserved.acme.store.write(read_queue.probe, at=NOW)
    async with storage.opened(database_url, replica_url=copied(database_url, tmp_path)) as store:
        await store.measure_replica(at=NOW + timedelta(seconds=2))
        assistant = Assistant(dataclasses.replace(unserved.acme, store=store), unserved.globex)
        assistant.good = await assistant.issue()
        await assistant.acme.visitor()
        async with assistant.serving():
            report = await assistant.tool("get_performance", period="7d")
            await store.write(agent_keys.revoke, 2, at=NOW)
            revoked = await assistant.tool("get_performance", period="7d")

    assert report.payload["as_of"] == "2026-05-20T12:00:00Z"
    assert report.payload["totals"]["clicks"] == 0
    assert revoked.http.status_code == 401
