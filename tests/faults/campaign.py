"""One fault, from start to verdict: clients at work, the fault again and again, recovery, and the books afterwards."""

import asyncio
import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import storage
from tests import forked, world
from tests.conftest import LiveServer, servers
from tests.faults import books
from tests.faults.books import Journal, Verdict
from tests.faults.client import Client
from tests.faults.places import Place, Placing
from tests.world import World

CLIENTS = 6
BETWEEN_FAULTS = 12  # acknowledgements: the service is at work when the next one comes


class Service:
    """`svc serve` as operators run it, a process of its own; started again it listens on another port."""

    def __init__(self, start: Callable[[], LiveServer]) -> None:
        self._start = start
        self.server = start()

    def restart(self) -> None:
        """End it as a crash does, without a word, and start it again; return when it is ready."""
        self.server.process.kill()
        self.server.process.wait()
        self.server = self._start()


@dataclass
class Scene:
    """A service at work: what a fault may break."""

    place: Place
    service: Service
    journal: Journal
    client: Client  # for calls of the fault's own


Happen = Callable[[Scene], Awaitable[None]]


class Fault(NamedTuple):
    """Something that happens to the service; `happen` returns when it is over."""

    name: str
    placing: Placing
    happen: Happen
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
        """Whether nothing is lost, doubled, untrue or wrong, and no answer was a 500."""
        found = self.verdict
        return not any((found.lost, found.doubled, found.untrue, found.wrong, self.journal.surprises, self.complaints))

    def __str__(self) -> str:
        found = {name: value[:10] for name, value in vars(self.verdict).items()}
        found |= {"surprises": self.journal.surprises[:10], "check": self.complaints[-2_000:]}
        return json.dumps({"answers": self.journal.answers, **found}, indent=1)


async def run(fault: Fault, times: int) -> Outcome:
    """Let a fault happen so many times to a service at work, and judge what it stored."""
    with tempfile.TemporaryDirectory(prefix="svc-fault-", dir="/tmp") as name:
        async with fault.placing(Path(name)) as place:
            stack = ExitStack()
            start = stack.enter_context(servers(Path(name)))
            try:
                service = await asyncio.to_thread(Service, lambda: start(place.url, workers=fault.workers))
                programs = await _prepare(place.direct_url, fault.programs)
                journal, recoveries = await _suffer(fault, times, place, service, programs)
            finally:
                await asyncio.to_thread(stack.close)
            complaints = await check(place)
            verdict = books.compare(journal, await books.read(place.direct_url))
    return Outcome(fault.name, times, journal, recoveries, verdict, complaints)


async def check(place: Place) -> str:
    """Run `svc admin db check` in a process of its own, and return what it complains about."""
    environment = os.environ | {"SVC_DATABASE_URL": place.url}
    done = await asyncio.to_thread(forked.run, ["admin", "db", "check"], cwd=Path(), env=environment, stdin="")
    return done.stdout + done.stderr if done.code else ""


async def _suffer(
    fault: Fault, times: int, place: Place, service: Service, programs: list[World]
) -> tuple[Journal, list[float]]:
    """Keep clients at work while the fault happens; return the journal, and the seconds of each recovery."""
    journal, closing = Journal(), asyncio.Event()
    clients = [
        Client(lambda: service.server.base_url, program, journal, f"p{n}-") for n, program in enumerate(programs)
    ]
    scene = Scene(place, service, journal, clients[0])
    recoveries = []
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
    return journal, recoveries


async def _prepare(url: str, number: int) -> list[World]:
    """Make programs, as an operator does beside a running service."""
    async with storage.opened(url) as store:
        made = [await world.acme(store)]
        while len(made) < number:
            made.append(await world.program_of(store, made[0].workspace_id, made[0].owner_id))
    return made
