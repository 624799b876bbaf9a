"""Two servers, eight programs, clicks, leads, sales and refunds at once: no deadlock, and the books agree."""

import asyncio
import os
from collections import Counter
from itertools import count

import pytest

import storage
from storage.checks import books
from tests import world
from tests.serving import Serve
from tests.test_journeys import Integrator
from tests.world import World

SECONDS = float(os.environ.get("SVC_MIXED_SECONDS", "6"))
PROGRAMS = 8


@pytest.fixture
def database_url(postgres_url: str) -> str:
    """Two servers share no SQLite file."""
    return postgres_url


async def test_two_servers_and_eight_programs_share_a_database(acme: World, postgres_url: str, serve: Serve):
    programs = [acme]
    while len(programs) < PROGRAMS:
        programs.append(await world.program_of(acme.store, acme.workspace_id, acme.owner_id))
    servers = [serve(postgres_url) for _ in range(2)]
    statuses: Counter[int] = Counter()
    end = asyncio.get_running_loop().time() + SECONDS

    async with asyncio.TaskGroup() as tasks:
        for program in programs:
            for server in servers:
                tasks.create_task(_shop(Integrator(server, program), end, statuses))

    assert set(statuses) == {200}
    async with storage.opened(postgres_url) as store:
        assert await store.read(books.run) == []


async def _shop(integrator: Integrator, end: float, statuses: Counter[int]) -> None:
    """Take one customer after the other from click to refund, until the time is over."""
    server = integrator.client.base_url.port
    async with integrator:
        for n in count():
            name = f"{server}-{n}"
            clicked = await integrator.click()
            customer = {"click_id": clicked.json()["click_id"], "customer_key": name}
            responses = [
                clicked,
                await integrator.post("lead", **customer),
                *await asyncio.gather(
                    *(
                        integrator.post("sale", transaction_id=f"{name}-{m}", customer_key=name, amount_cents=1_000)
                        for m in range(3)
                    )
                ),
                await integrator.post("refund", transaction_id=f"{name}-0", refund_amount_cents=500),
            ]
            statuses.update(response.status_code for response in responses)
            if asyncio.get_running_loop().time() > end:
                return
