"""Floods of calls and guesses: every one meets a limit, stores and reveals nothing, and locks nobody else out."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

import asgi
from configuration import Configuration
from storage.engine import recurring
from storage.rules import keys
from storage.rules.settlement import LeadAuthPolicy
from storage.tables import leads, test_events, tracking_log
from storage.tracking import test_mode
from tests import world
from tests.serving import in_the_loop
from tests.tracking_api.conftest import Api
from web.middleware import RequestMiddleware

TEST = {"test_mode": True}


def invented(api: Api, program_id: int) -> str:
    return keys.click_id(program_id, api.at)


@pytest.mark.parametrize("api", [Configuration(public_rate="4/minute", body_seconds=0.05)], indirect=True)
async def test_all_calls_of_one_ip_address_are_counted_together_whatever_program_they_name(api: Api):
    answers = [
        await api.click(),
        await api.click(program_id=1_000),
        await api.post("click", content=b"{", headers={"Content-Type": "application/json"}),
        *[await api.lead(key=None, click_id=invented(api, number)) for number in (1_000, 1_001)],
        await api.click(program_id=1_001),
    ]

    assert [answer.status_code for answer in answers] == [200, 400, 400, 400, 429, 429]
    rejected = answers[5]
    assert rejected.json()["error"]["code"] == "rate_limited"
    assert int(rejected.headers["retry-after"]) == rejected.json()["error"]["retry_after_seconds"]
    assert 1 <= int(rejected.headers["retry-after"]) <= 60
    assert rejected.headers["access-control-allow-origin"] == "*"


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


async def test_keyless_test_events_make_room_for_newer_and_end_after_30_days(api: Api, monkeypatch: pytest.MonkeyPatch):
    async def stored() -> list[set[str]]:
        return [{row.id for row in await api.rows(test_events)}, {row.event_id for row in await api.rows(tracking_log)}]

    monkeypatch.setattr(test_mode, "MOST_WITHOUT_KEY", 3)
    with_key = (await api.lead(additional_data=TEST)).json()["data"]["eventId"]
    named = {**TEST, "program_id": api.acme.program_id}

    sent = [(await api.lead(key=None, additional_data=named)).json()["data"]["eventId"] for _ in range(6)]

    assert await stored() == [{with_key, *sent[3:]}] * 2
    for day, deleted in ((19, 0), (20, 3)):
        for table in (tracking_log, test_events):
            pruned = await api.acme.store.write(recurring.prune, table, at=world.NOW.replace(month=6, day=day))
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


GUESSED: dict[str, tuple[int, dict[str, Any]]] = {  # the status of a wrong credential, and what is sent with it
    "/api/auth/device/token": (400, {"json": {"device_code": "dev_invented"}}),
    "/api/v1/payments/stripe/1": (400, {"json": {}, "headers": {"Stripe-Signature": "t=1,v1=00"}}),
    "/api/agent/v1/programs/1/partners": (401, {"json": {"name": "Zoe", "code": "zoe"}}),
    "/mcp": (401, {"json": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "headers": {"Accept": "application/json"}}),
}


async def test_credentials_that_one_address_invents_are_counted_and_a_key_that_has_worked_still_does(sqlite_url: str):
    made = asgi.Service(Configuration(database_url=sqlite_url, secret_key="a secret key", rejected_rate="3/minute"))

    async def post(number: int, path: str, key: str, **options: Any) -> int:
        transport = httpx.ASGITransport(RequestMiddleware(made), client=(f"203.0.113.{number}", 1))
        headers = {"Authorization": f"Bearer {key}", "Host": "localhost", **options.pop("headers", {})}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.post(path, headers=headers, **options)).status_code

    async with made.opened() as store:
        acme = await world.acme(store)
        known, new = [(await acme.issue()).secret for _ in range(2)]
        for number, (path, (status, sent)) in enumerate(GUESSED.items()):
            is_keyed = status == 401
            first = await post(number, path, known, **sent)
            guessed = [await post(number, path, f"agt_{'a' * 42}{each}", **sent) for each in range(5)]

            assert (first < 300) is is_keyed, path
            assert guessed == ([401] * 3 + [429] * 2 if is_keyed else [400] * 2 + [429] * 3), path
            assert await post(number, path, new, **sent) == 429, path
            assert (await post(number, path, known, **sent) == 429) is not is_keyed, path
            assert await post(number + 100, path, new, **sent) != 429, path


async def test_no_body_is_read_for_an_invented_key(sqlite_url: str):
    headers = {"Authorization": f"Bearer agt_{'a' * 43}", "Content-Type": "application/json"}
    read: list[str] = []

    async def content(path: str) -> AsyncIterator[bytes]:
        read.append(path)
        yield b"{}"

    async with in_the_loop(database_url=sqlite_url, secret_key="a secret key") as (client, _):
        for path in ("/mcp", "/api/agent/v1/programs/1/partners", "/api/agent/v1/programs/1/commissions/1"):
            method = "PATCH" if path.endswith("/1") else "POST"
            answer = await client.request(method, path, content=content(path), headers=headers)
            assert answer.status_code == 401, path

    assert read == []
