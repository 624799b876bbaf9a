"""One fault, from start to verdict: clients at work, the fault again and again, recovery, and the books afterwards."""

import asyncio
import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import storage
from tests import forked, world
from tests.conftest import LiveServer, servers
from tests.faults import books
from tests.faults.books import Journal, Verdict
from tests.faults.client import Client
from tests.faults.places import Place
from tests.world import World

CLIENTS = 6
BETWEEN_FAULTS = 12  # acknowledgements: the service is at work when the next one comes


@dataclass
class Scene:
    """A service at work: what a fault may break."""

    place: Place
    start: Callable[[], LiveServer]  # `svc serve` as operators run it; started again it listens on another port
    server: LiveServer
    journal: Journal = field(default_factory=Journal)


class Fault(NamedTuple):
    """Something that happens to the service; `happen` returns when it is over."""

    name: str
    placing: Callable[[Path], AbstractAsyncContextManager[Place]]
    happen: Callable[[Scene], Awaitable[None]]
    times: int  # in `make faults`
    clients: int = CLIENTS
    programs: int = 1
    workers: int = 1


@dataclass
class Outcome:
    name: str
    times: int
    journal: Journal
    recoveries: list[float]
    verdict: Verdict
    complaints: str  # of `svc admin db check`

    @property
    def is_clean(self) -> bool:
        """Whether nothing is lost, doubled or untrue, and no answer was a 500."""
        return not any((*vars(self.verdict).values(), self.journal.surprises, self.complaints))

    def __str__(self) -> str:
        found = {name: value[:10] for name, value in vars(self.verdict).items()}
        found |= {"surprises": self.journal.surprises[:10], "check": self.complaints[-2_000:]}
        return json.dumps({"answers": self.journal.answers, **found}, indent=1)


async def run(fault: Fault, times: int) -> Outcome:
    """Let a fault happen so many times to a service at work, and judge what it stored."""
    with tempfile.TemporaryDirectory(prefix="svc-fault-", dir="/tmp") as name:
        async with fault.placing(Path(name)) as place:
            stack = ExitStack()
            start = partial(stack.enter_context(servers(Path(name))), place.url, workers=fault.workers)
            try:
                scene = Scene(place, start, await asyncio.to_thread(start))
                recoveries = await _suffer(scene, fault, times, await _prepare(place.direct_url, fault.programs))
            finally:
                await asyncio.to_thread(stack.close)
            complaints = await check(place)
            verdict = await books.compare(scene.journal, place.direct_url)
    return Outcome(fault.name, times, scene.journal, recoveries, verdict, complaints)


async def check(place: Place) -> str:
    """Run `svc admin db check` in a process of its own, and return what it complains about."""
    environment = os.environ | {"SVC_DATABASE_URL": place.url}
    done = await asyncio.to_thread(forked.run, ["admin", "db", "check"], cwd=Path(), env=environment, stdin="")
    return done.stdout + done.stderr if done.code else ""


async def _prepare(url: str, number: int) -> list[World]:
    """Make programs, as an operator does beside a running service."""
    async with storage.opened(url) as store:
        acme = await world.acme(store)
        return [acme, *[await acme.beside() for _ in range(1, number)]]


async def _suffer(scene: Scene, fault: Fault, times: int, programs: list[World]) -> list[float]:
    """Keep clients at work while the fault happens; return the seconds of each recovery."""
    journal, closing, recoveries = scene.journal, asyncio.Event(), []
    clients = [Client(lambda: scene.server.base_url, program, journal, f"p{n}-") for n, program in enumerate(programs)]
    try:
        async with asyncio.TaskGroup() as group:
            for n in range(fault.clients):
                group.create_task(clients[n % len(clients)].shop(closing))
            for _ in range(times):
                await journal.grow(BETWEEN_FAULTS)
                await fault.happen(scene)
                recoveries.append(await journal.grow())
            await journal.grow(BETWEEN_FAULTS)
            closing.set()
    finally:
        await asyncio.gather(*(client.close() for client in clients))
    return recoveries
