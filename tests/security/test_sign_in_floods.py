"""Floods of sign-ins: guesses meet limits, and neither locks an account out nor lets its holder wait."""

import asyncio
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import anyio
import httpx
import pyotp
import pytest
from starlette.applications import Starlette

import storage
import tracking_api.app
from configuration import Configuration
from storage.access import accounts, second_factors
from storage.access.workspaces import Role
from storage.engine.audit import OPERATOR, By
from storage.rules.errors import Overloaded
from tests import documented, world
from tests.tracking_api.dashboard.conftest import HASH, OLGA, OURS, PASSWORD
from tracking_api.dashboard.sessions import LONGEST_OF_CLIENT, LONGEST_QUEUE, RUNNING, PasswordQueue


@pytest.fixture
async def app(sqlite_url: str) -> AsyncIterator[Starlette]:
    """The service, with a low limit across accounts."""
    async with storage.opened(sqlite_url) as store:
        acme = await world.acme(store)
        await acme.join(OLGA, Role.OWNER, password_hash=HASH)
        yield tracking_api.app.create(store, Configuration(secret_key="a secret key", sign_in_rate="5/15 minutes"))


async def sign_in(app: Starlette, number: int = 0, **credentials: str) -> int:
    """Sign in from a network of that number, to Olga's account with her password unless other ones are given."""
    transport = documented.transport_to(app, client=(f"203.0.113.{number}", 1))
    async with documented.client(transport) as client:
        sent = {"email": OLGA, "password": PASSWORD, **credentials}
        return (await client.post("/api/auth/login", json=sent)).status_code


async def test_one_address_cannot_try_a_password_on_many_accounts(app: Starlette):
    right = [await sign_in(app) for _ in range(7)]
    tries = [await sign_in(app, email=f"user{number}@acme.example", password="wrong") for number in range(7)]

    assert right == [200] * 7  # who knows a password is not counted
    assert tries == [401] * 5 + [429] * 2
    assert await sign_in(app) == 429


async def flood(queue: PasswordQueue, gate: threading.Event) -> list[asyncio.Task[bool]]:
    """Fill the queue by as many clients as it takes; each holds its place until the gate opens."""
    work = [queue.run(f"client {number}", lambda: gate.wait(timeout=30)) for number in range(RUNNING + LONGEST_QUEUE)]
    tasks = [asyncio.create_task(each) for each in work]
    await anyio.wait_all_tasks_blocked()  # each has entered
    return tasks


async def test_wrong_passwords_from_everywhere_pause_an_account_but_not_a_browser_that_was_there(app: Starlette):
    gate, form = threading.Event(), {"email": OLGA, "password": PASSWORD}
    here: dict[str, Any] = {"transport": documented.transport_to(app), "base_url": "http://svc.test", "headers": OURS}
    async with httpx.AsyncClient(**here) as browser:
        first = await browser.post("/sign-in", data=form)
        tries = [await sign_in(app, number, password="wrong") for number in range(12)]
        right = await sign_in(app, 13)
        tasks = await flood(app.state.passwords, gate)
        known = await browser.post("/sign-in", data=form)  # it waits for no stranger, either
        gate.set()
        await asyncio.gather(*tasks)

    assert tries == [401] * 10 + [429] * 2
    assert (first.status_code, right, known.status_code) == (303, 429, 303)
    assert await sign_in(app, 14) == 200  # the holder was there: the pause is over


async def test_a_second_factor_signs_in_during_the_pause(app: Starlette):
    store, sealer = app.state.storage, app.state.settings.sealer()
    olga, at = await store.read(accounts.find_id, OLGA), datetime.now(UTC) - timedelta(minutes=5)
    secret = (await store.write(second_factors.enrol, olga, email=OLGA, sealer=sealer)).secret
    totp = pyotp.TOTP(secret)
    await store.write(second_factors.confirm, olga, totp.at(at), sealer=sealer, by=By(OPERATOR, at))
    for number in range(11):
        await sign_in(app, number, password="wrong")

    assert await sign_in(app, 12, password="wrong", totp=totp.now()) == 401
    assert await sign_in(app, 12, totp=totp.now()) == 200


async def test_clients_take_turns_and_a_flood_is_told_to_come_back():
    queue, turns = PasswordQueue(), threading.Semaphore(0)

    async with asyncio.TaskGroup() as group:
        for _ in range(RUNNING + LONGEST_OF_CLIENT):
            group.create_task(queue.run("flood", lambda: turns.acquire(timeout=30)))
        await anyio.wait_all_tasks_blocked()
        member = group.create_task(queue.run("member", lambda: True))
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(Overloaded) as rejection:
            await queue.run("flood", turns.acquire)
        turns.release(RUNNING)  # what ran ends; the rest of the flood does not
        assert await asyncio.wait_for(member, timeout=20)
        turns.release(LONGEST_OF_CLIENT)

    assert rejection.value.details["retry_after_seconds"] >= 1


async def test_the_queue_is_bounded_in_all_and_a_client_that_leaves_gives_its_place_back():
    queue, gate = PasswordQueue(), threading.Event()
    tasks = await flood(queue, gate)

    with pytest.raises(Overloaded):
        await queue.run("one more", gate.is_set)
    for task in tasks[RUNNING:]:
        task.cancel()
    gate.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert await queue.run("one more", gate.is_set)
