"""Every fault: where it happens, what it does, and how often in `make faults`."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.faults import places
from tests.faults.campaign import Fault, Scene, check
from tests.postgres import Server

SECONDS_OF_WORK = 6
UNTIL_NOTICED = 4  # acknowledged or rejected calls, while something is broken


async def kill(scene: Scene) -> None:
    """Kill the service under load, and start it again."""
    scene.server.process.kill()
    scene.server.process.wait()
    scene.server = await asyncio.to_thread(scene.start)


async def run_command(scene: Scene) -> None:
    """Run a command beside the service, which opens and closes the same database."""
    scene.journal.surprises += filter(None, [await check(scene.place)])


async def lose_answer(scene: Scene) -> None:
    """Cut the connection behind a COMMIT, so that its answer is lost."""
    scene.place.proxy.lose_answers = 1
    await scene.journal.until(lambda: not scene.place.proxy.lose_answers)


@asynccontextmanager
async def stopped(server: Server) -> AsyncIterator[None]:
    """Stop it as a crash does, and keep it down."""
    await asyncio.to_thread(server.control, "--mode", "immediate", "--wait", "stop")
    try:
        yield
    finally:
        await asyncio.to_thread(server.control, "--wait", "start")


async def go_down(scene: Scene) -> None:
    """Keep the server down until some calls have been answered with 503, or not at all."""
    async with stopped(scene.place.nodes[0]):
        await scene.journal.fail(UNTIL_NOTICED)


async def work(scene: Scene) -> None:
    """Let the clients work for six seconds; no transaction may end because of a deadlock."""
    end = time.monotonic() + SECONDS_OF_WORK
    while time.monotonic() < end:
        await scene.journal.grow()
    logs = [(node.data.parent / "log").read_text(encoding="utf-8") for node in scene.place.nodes]
    found = {line for log in logs for line in log.splitlines() if "deadlock" in line}
    scene.journal.surprises += sorted(found - set(scene.journal.surprises))


CROWDED = {"clients": 24, "programs": 8, "workers": 2}
FAULTS = [
    Fault("kill -9, SQLite", places.sqlite, kill, 100),
    Fault("kill -9, PostgreSQL", places.postgresql, kill, 100),
    Fault("commands beside the service, SQLite", places.sqlite, run_command, 20),
    Fault("answer to COMMIT cut off", places.proxied_postgresql, lose_answer, 200),
    Fault("PostgreSQL down", places.postgresql, go_down, 10),
    Fault("2 workers, 8 programs for 6 seconds, PostgreSQL", places.postgresql, work, 10, **CROWDED),
    Fault("2 workers, 8 programs for 6 seconds, Citus", places.distributed, work, 10, **CROWDED),
]
