"""Every fault: where it happens, what it does, and how often in `make faults`."""

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, suppress

from tests.faults import places
from tests.faults.campaign import Fault, Happen, Scene, check
from tests.postgres import Server

SECONDS_OF_WORK = 6
CROWD = 300
UNTIL_NOTICED = 4  # acknowledged or rejected calls, while something is broken


async def kill(scene: Scene) -> None:
    """Kill the service under load, and start it again."""
    await asyncio.to_thread(scene.service.restart)


async def run_command(scene: Scene) -> None:
    """Run a command beside the service, which opens and closes the same database."""
    scene.journal.surprises += filter(None, [await check(scene.place)])


async def lock_file(scene: Scene) -> None:
    """Hold SQLite's write lock while more calls come than can wait for it."""
    with closing(sqlite3.connect(scene.place.file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        crowd = [asyncio.create_task(scene.client.click()) for _ in range(CROWD)]
        await asyncio.wait(crowd, timeout=6)
        other.execute("ROLLBACK")
    await asyncio.gather(*crowd)


async def fill_disk(scene: Scene) -> None:
    """Fill the disk of the database, wait until that shows, and make room again."""
    filler = scene.place.file.with_name("filler")
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4096)):
            pass
    await rejected(scene)
    filler.unlink()


async def remove_file(scene: Scene) -> None:
    """Take the database away, wait until the service notices, and put it back."""
    away = scene.place.file.rename(scene.place.file.with_name("away.db"))
    await rejected(scene)
    away.rename(scene.place.file)


async def remove_wal(scene: Scene) -> None:
    """Delete the -wal file, which holds the newest writes, wait until the service notices, and kill it."""
    scene.place.file.with_name(f"{scene.place.file.name}-wal").unlink()
    await rejected(scene)
    await kill(scene)


def lose(what: str) -> Happen:
    """Return a fault that cuts the connection once, before the server sees a COMMIT or behind it."""

    async def happen(scene: Scene) -> None:
        setattr(scene.place.proxy, what, 1)
        await scene.journal.until(lambda: not getattr(scene.place.proxy, what))

    return happen


async def delay_commit(scene: Scene) -> None:
    """Cut the service off at a COMMIT, which the server sees only after the service asked what became of it."""
    proxy = scene.place.proxy
    proxy.deliver.clear()
    proxy.delay_commit = True
    await scene.journal.until(lambda: not proxy.delay_commit)
    await scene.journal.grow()
    proxy.deliver.set()


async def swallow(scene: Scene) -> None:
    """Let nothing through in either direction, without closing a connection, and forget these connections."""
    proxy = scene.place.proxy
    proxy.flowing.clear()
    await rejected(scene)
    proxy.cut()
    proxy.flowing.set()


@asynccontextmanager
async def stopped(server: Server) -> AsyncIterator[None]:
    """Stop it as a crash does, and keep it down."""
    await asyncio.to_thread(server.control, "--mode", "immediate", "--wait", "stop")
    try:
        yield
    finally:
        await asyncio.to_thread(server.control, "--wait", "start")


@asynccontextmanager
async def in_recovery(server: Server) -> AsyncIterator[None]:
    """Make it a standby, which is read-only, by a restart as after a crash; then promote it."""
    sign = server.data / "standby.signal"
    sign.touch()
    os.chown(sign, server.data.stat().st_uid, server.data.stat().st_gid)
    await asyncio.to_thread(server.control, "--mode", "immediate", "--wait", "restart")
    try:
        yield
    finally:
        await asyncio.to_thread(server.control, "--wait", "promote")


def while_it_is(state: Callable[[Server], AbstractAsyncContextManager[None]]) -> Happen:
    """Return a fault that puts the server into a state until calls have failed."""

    async def happen(scene: Scene) -> None:
        async with state(scene.place.nodes[0]):
            await rejected(scene)

    return happen


async def work(scene: Scene) -> None:
    """Let the clients work for six seconds; no transaction may end because of a deadlock."""
    end = time.monotonic() + SECONDS_OF_WORK
    while time.monotonic() < end:
        await scene.journal.grow()
    logs = [(node.data.parent / "log").read_text(encoding="utf-8") for node in scene.place.nodes]
    found = {line for log in logs for line in log.splitlines() if "deadlock" in line}
    scene.journal.surprises += sorted(found - set(scene.journal.surprises))


async def rejected(scene: Scene) -> None:
    """Wait until some calls have been answered with 503, or not at all."""
    await scene.journal.fail(UNTIL_NOTICED)


CROWDED = {"clients": 24, "programs": 8, "workers": 2}
FAULTS = [
    Fault("kill -9, SQLite", places.sqlite, kill, 100),
    Fault("kill -9, PostgreSQL", places.postgresql, kill, 100),
    Fault("commands beside the service, SQLite", places.sqlite, run_command, 20),
    Fault("locked file and 300 calls more, SQLite", places.sqlite, lock_file, 5),
    Fault("disk full, SQLite", places.small_disk, fill_disk, 20),
    Fault("file removed and put back, SQLite", places.sqlite, remove_file, 10),
    Fault("-wal removed, SQLite", places.sqlite, remove_wal, 10),
    Fault("answer to COMMIT cut off", places.proxied_postgresql, lose("lose_answers"), 200),
    Fault("connection cut before COMMIT", places.proxied_postgresql, lose("lose_commits"), 200),
    Fault("COMMIT arrives late", places.proxied_postgresql, delay_commit, 50),
    Fault("network swallows everything", places.proxied_postgresql, swallow, 10),
    Fault("PostgreSQL down", places.postgresql, while_it_is(stopped), 10),
    Fault("PostgreSQL in recovery", places.postgresql, while_it_is(in_recovery), 10),
    Fault("2 workers, 8 programs for 6 seconds, PostgreSQL", places.postgresql, work, 10, **CROWDED),
    Fault("2 workers, 8 programs for 6 seconds, Citus", places.distributed, work, 10, **CROWDED),
]
