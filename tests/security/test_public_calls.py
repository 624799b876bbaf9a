"""Floods of calls and guesses: every one meets a limit, stores and reveals nothing, and locks nobody else out."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import anyio.lowlevel
import httpx
import pytest
from starlette.applications import Starlette

import storage
import tracking_api.app
from configuration import Configuration
from storage.access import workspaces
from storage.engine import recurring
from storage.rules import keys
from storage.rules.errors import Overloaded
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import customers, leads, test_events, tracking_log
from storage.tracking import test_mode
from tests import documented, world
from tests.tracking_api.conftest import Api
from tests.world import NOW, World
from tracking_api.dashboard.password_queue import LONGEST, LONGEST_OF_CLIENT, RUNNING, PasswordQueue

TEST = {"test_mode": True}
OLGA, PASSWORD = "olga@acme.example", "correct horse"


@pytest.fixture
async def limited(acme: World) -> AsyncIterator[Api]:
    """The tracking calls, with four public calls a minute from one address."""
    made = Api(acme, Configuration(public_rate="4/minute", body_seconds=0.05))
    async with made.client:
        yield made


def invented(api: Api, program_id: int) -> str:
    return keys.click_id(program_id, api.at)


async def test_all_calls_of_one_ip_address_are_counted_together_whatever_program_they_name(limited: Api):
    answers = [
        await limited.click(),
        await limited.click(program_id=1_000),
        await limited.post("click", content=b"{", headers={"Content-Type": "application/json"}),
        *[await limited.lead(key=None, click_id=invented(limited, number)) for number in (1_000, 1_001)],
        await limited.click(program_id=1_001),
    ]

    assert [answer.status_code for answer in answers] == [200, 400, 400, 400, 429, 429]
    rejected = answers[5]
    assert rejected.json()["error"]["code"] == "rate_limited"
    assert int(rejected.headers["retry-after"]) == rejected.json()["error"]["retry_after_seconds"]
    assert 1 <= int(rejected.headers["retry-after"]) <= 60
    assert rejected.headers["access-control-allow-origin"] == "*"


async def test_the_ip_addresses_of_one_ipv6_network_share_a_limit_that_calls_with_the_key_do_not_use_up(limited: Api):
    statuses = [(await limited.lead(additional_data=TEST)).status_code for _ in range(6)]
    for address in (*["2001:db8:1:2::1", "2001:db8:1:2::ffff"] * 2, "2001:db8:1:2::2", "2001:db8:1:3::1"):
        limited.come_from(address)
        statuses.append((await limited.click()).status_code)

    assert statuses == [200] * 6 + [200] * 4 + [429, 200]


async def test_a_call_about_an_unknown_program_does_not_reach_the_writer(api: Api, monkeypatch: pytest.MonkeyPatch):
    async def unreachable(*_: Any, **__: Any) -> None:
        pytest.fail("the call was queued for writing")

    missing = api.acme.program_id + 1_000
    monkeypatch.setattr(type(api.acme.store), "write", unreachable)

    answers = [
        await api.click(program_id=missing),
        await api.click(program_id=missing, additional_data=TEST),
        await api.lead(key=None, customer_key="user-1", additional_data={"program_id": missing}),
        await api.lead(key=None, click_id=invented(api, missing), customer_key="user-1"),
    ]

    codes = [answer.json()["error"]["code"] for answer in answers]
    assert codes == ["program_not_found"] * 3 + ["customer_not_found"]


async def test_test_leads_of_invented_clicks_store_nothing(api: Api):
    answer = await api.lead(key=None, click_id=invented(api, 1_000), additional_data=TEST)

    assert answer.json()["data"]["programId"] == 0
    assert await api.count(customers, test_events, tracking_log) == 0


async def test_test_events_without_a_key_make_room_for_newer_ones_and_are_deleted_after_30_days(
    api: Api, monkeypatch: pytest.MonkeyPatch
):
    async def stored() -> list[set[str]]:
        return [{row.id for row in await api.rows(test_events)}, {row.event_id for row in await api.rows(tracking_log)}]

    monkeypatch.setattr(test_mode, "MOST_WITHOUT_KEY", 3)
    with_key = (await api.lead(additional_data=TEST)).json()["data"]["eventId"]
    named = {**TEST, "program_id": api.acme.program_id}

    sent = [(await api.lead(key=None, additional_data=named)).json()["data"]["eventId"] for _ in range(6)]

    assert await stored() == [{with_key, *sent[3:]}] * 2
    for day, deleted in ((19, 0), (20, 3)):
        for table in (tracking_log, test_events):
            pruned = await api.acme.store.write(recurring.prune, table, at=NOW.replace(month=6, day=day))
            assert pruned == deleted
    assert await stored() == [{with_key}] * 2


@pytest.mark.parametrize("policy", LeadAuthPolicy)
async def test_neither_a_customer_key_nor_an_own_click_reveals_who_is_a_customer(api: Api, policy: LeadAuthPolicy):
    shop = await api.beside(lead_auth_policy=policy, lead_commission_cents=500)
    for customer_key in ("lead", "buyer"):
        await shop.acme.customer(customer_key)
    await shop.sale(customer_key="buyer")
    before, extra = await shop.rows(leads), {"program_id": shop.acme.program_id}

    for customer_key in ("unknown", "lead", "buyer"):
        error = (await shop.lead(key=None, customer_key=customer_key, additional_data=extra)).json()["error"]
        assert error["code"] == "customer_not_found"
        assert error["message"] == "Without the program key, a lead needs a click_id of this program."
    assert await shop.rows(leads) == before
    responses = []
    for customer_key in ("fresh", "lead", "buyer"):
        own = await shop.acme.visitor("ben")
        sent = [await shop.lead(key=None, click_id=own, customer_key=customer_key) for _ in range(2)]
        responses.append([answer.json() for answer in sent])
    assert responses == [responses[0]] * 3


@pytest.fixture
async def app(sqlite_url: str) -> AsyncIterator[Starlette]:
    """The service, with a low limit across accounts."""
    async with storage.opened(sqlite_url) as store:
        olga: dict[str, Any] = {"owner_email": OLGA, "password_hash": world.password_hash(PASSWORD)}
        await store.write(workspaces.create, "Acme", **olga, at=NOW)
        yield tracking_api.app.create(store, Configuration(secret_key="a key", sign_in_rate="5/15 minutes"))


@pytest.fixture
async def visitor(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """A client of that service."""
    async with documented.client(documented.transport_to(app)) as client:
        yield client


async def sign_in(client: httpx.AsyncClient, email: str = OLGA, password: str = PASSWORD) -> int:
    return (await client.post("/api/auth/login", json={"email": email, "password": password})).status_code


async def test_one_address_cannot_try_a_password_on_many_accounts(visitor: httpx.AsyncClient):
    right = [await sign_in(visitor) for _ in range(7)]
    tries = [await sign_in(visitor, f"user{number}@acme.example", "wrong") for number in range(7)]

    assert right == [200] * 7  # who knows a password is not counted
    assert tries == [401] * 5 + [429] * 2
    assert await sign_in(visitor) == 429


async def flood(queue: PasswordQueue, gate: threading.Event) -> list[asyncio.Task[bool]]:
    """Fill the queue by as many clients as it takes; each holds its place until the gate opens."""
    work = [queue.run(f"client {number}", lambda: gate.wait(timeout=30)) for number in range(RUNNING + LONGEST)]
    tasks = [asyncio.create_task(each) for each in work]
    await anyio.lowlevel.checkpoint()  # each has entered
    return tasks


async def test_a_sign_in_waits_in_the_queue_that_a_flood_has_filled(app: Starlette, visitor: httpx.AsyncClient):
    gate = threading.Event()
    tasks = await flood(app.state.passwords, gate)

    during = await sign_in(visitor)
    gate.set()
    await asyncio.gather(*tasks)

    assert (during, await sign_in(visitor)) == (503, 200)


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
    tasks = await flood(queue, gate)

    with pytest.raises(Overloaded):
        await queue.run("one more", gate.is_set)
    for task in tasks[RUNNING:]:
        task.cancel()
    gate.set()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert await queue.run("one more", gate.is_set)
