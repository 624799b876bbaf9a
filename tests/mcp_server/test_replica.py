"""MCP with a read replica: the primary proves the key, the replica's data says how old it is."""

import dataclasses
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import storage
from storage.access import agent_keys
from storage.engine import committed_batches
from tests.mcp_server.conftest import Assistant
from tests.world import NOW


def copied(url: str, folder: Path) -> str:
    """Copy a database that is in use, as a replica would."""
    target = folder / "replica.db"
    with closing(sqlite3.connect(url.partition(":///")[2])) as source, closing(sqlite3.connect(target)) as written:
        source.backup(written)
    return f"sqlite+aiosqlite:///{target}"


async def test_results_say_how_far_the_replica_is_and_a_revoked_key_is_dead_at_once(
    unserved: Assistant, database_url: str, tmp_path: Path
):
    await unserved.acme.store.write(committed_batches.probe, at=NOW)
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
