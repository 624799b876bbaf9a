"""Every fault: where it happens, what it does, and how often in `make faults`."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from tests.faults import places
from tests.faults.campaign import Fault, Happen, Scene, check
from tests.postgres import Server

SECONDS_OF_WORK = 6
UNTIL_NOTICED = 4  # acknowledged or rejected calls, while something is broken


async def kill(scene: Scene) -> None:
    """Kill the service under load, and start it again."""
    await asyncio.to_thread(scene.service.restart)


async def run_command(scene: Scene) -> None:
    """Run a command beside the service, which opens and closes the same database."""
    scene.journal.surprises += filter(None, [await check(scene.place)])


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
    Fault("answer to COMMIT cut off", places.proxied_postgresql, lose("lose_answers"), 200),
    Fault("connection cut before COMMIT", places.proxied_postgresql, lose("lose_commits"), 200),
    Fault("COMMIT arrives late", places.proxied_postgresql, delay_commit, 50),
    Fault("network swallows everything", places.proxied_postgresql, swallow, 10),
    Fault("PostgreSQL down", places.postgresql, while_it_is(stopped), 10),
    Fault("PostgreSQL in recovery", places.postgresql, while_it_is(in_recovery), 10),
    Fault("2 workers, 8 programs for 6 seconds, PostgreSQL", places.postgresql, work, 10, **CROWDED),
    Fault("2 workers, 8 programs for 6 seconds, Citus", places.distributed, work, 10, **CROWDED),
]
