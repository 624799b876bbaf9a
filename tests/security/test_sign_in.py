"""Guessing passwords: limited for an IP address across accounts, and no flood of guesses locks other people out."""

import asyncio
import threading
from collections.abc import AsyncIterator

import anyio.lowlevel
import httpx
import pytest
from starlette.applications import Starlette

import storage
import tracking_api.app
from configuration import Configuration
from storage.access import workspaces
from storage.access.workspaces import Role
from storage.rules.errors import Overloaded
from tests import world
from tests.world import NOW
from tracking_api.dashboard.password_queue import LONGEST, LONGEST_OF_CLIENT, RUNNING, PasswordQueue
from web.middleware import RequestMiddleware

OLGA, PASSWORD = "olga@acme.example", "correct horse"


@pytest.fixture
async def app(sqlite_url: str) -> AsyncIterator[Starlette]:
    """The service, with a low limit across accounts."""
    async with storage.opened(sqlite_url) as store:
        acme = await world.acme(store)
        olga = {"email": OLGA, "role": Role.OWNER, "password_hash": world.password_hash(PASSWORD), "at": NOW}
        await store.write(workspaces.add_member, acme.workspace_id, **olga)
        yield tracking_api.app.create(store, Configuration(secret_key="a key", sign_in_rate="5/15 minutes"))


@pytest.fixture
async def limited(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """A client of that service."""
    transport = httpx.ASGITransport(RequestMiddleware(app))
    async with httpx.AsyncClient(transport=transport, base_url="http://svc.test") as client:
        yield client


async def sign_in(client: httpx.AsyncClient, email: str = OLGA, password: str = PASSWORD) -> int:
    return (await client.post("/api/auth/login", json={"email": email, "password": password})).status_code


async def test_one_address_cannot_try_a_password_on_many_accounts(limited: httpx.AsyncClient):
    right = [await sign_in(limited) for _ in range(7)]
    tries = [await sign_in(limited, f"user{number}@acme.example", "wrong") for number in range(7)]

    assert right == [200] * 7  # who knows a password is not counted
    assert tries == [401] * 5 + [429] * 2
    assert await sign_in(limited) == 429


async def test_a_sign_in_waits_in_the_queue_that_a_flood_has_filled(app: Starlette, limited: httpx.AsyncClient):
    gate = threading.Event()
    flood = [
        asyncio.create_task(app.state.passwords.run(f"client {number}", lambda: gate.wait(timeout=30)))
        for number in range(RUNNING + LONGEST)
    ]
    await anyio.lowlevel.checkpoint()  # each has entered

    during = await sign_in(limited)
    gate.set()
    await asyncio.gather(*flood)

    assert (during, await sign_in(limited)) == (503, 200)


async def test_clients_take_turns_and_a_flood_is_told_to_come_back():
    queue, gate, order = PasswordQueue(), threading.Event(), list[str]()

    def work(name: str) -> None:
        gate.wait(timeout=30)
        order.append(name)

    async def enter(client: str) -> None:
        await queue.run(client, lambda: work(client))

    async with asyncio.TaskGroup() as group:
        for _ in range(RUNNING + LONGEST_OF_CLIENT):
            group.create_task(enter("flood"))
        await anyio.lowlevel.checkpoint()  # each has entered
        group.create_task(enter("member"))
        await anyio.lowlevel.checkpoint()
        with pytest.raises(Overloaded) as rejection:
            await enter("flood")
        gate.set()

    assert rejection.value.details["retry_after_seconds"] >= 1
    assert order.index("member") <= 2 * RUNNING + 1
    assert len(order) == RUNNING + LONGEST_OF_CLIENT + 1


async def test_the_queue_is_bounded_in_all_and_a_client_that_leaves_gives_its_place_back():
    queue, gate = PasswordQueue(), threading.Event()
    tasks = [
        asyncio.create_task(queue.run(f"client {number}", lambda: gate.wait(timeout=30)))
        for number in range(RUNNING + LONGEST)
    ]
    await anyio.lowlevel.checkpoint()

    with pytest.raises(Overloaded):
        await queue.run("one more", gate.is_set)
    for task in tasks[RUNNING:]:
        task.cancel()
    gate.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert await queue.run("one more", gate.is_set)
