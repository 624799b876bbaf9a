"""Floods of public calls: every one meets a limit, what names no program stores nothing, and no input is expensive."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from crawleruseragents import CRAWLER_USER_AGENTS_DATA

from configuration import Configuration
from storage.rules import keys
from storage.tables import customers, test_events, tracking_log
from storage.tracking import test_mode
from tests.tracking_api.conftest import Api
from tests.world import NOW, World
from tracking_api.calls import bots

TEST = {"test_mode": True}


@pytest.fixture
async def limited(acme: World) -> AsyncIterator[Api]:
    """The tracking calls, with four public calls a minute from one address."""
    made = Api(acme, Configuration(public_rate="4/minute", body_seconds=0.05))
    async with made.client:
        yield made


def invented(api: Api, program_id: int) -> str:
    return keys.click_id(program_id, api.at)


async def test_naming_another_program_each_time_evades_no_limit(limited: Api):
    answers = [await limited.click(program_id=number) for number in range(1_000, 1_006)]

    assert [answer.status_code for answer in answers] == [400] * 4 + [429] * 2
    rejected = answers[5]
    assert rejected.json()["error"]["code"] == "rate_limited"
    assert int(rejected.headers["retry-after"]) == rejected.json()["error"]["retry_after_seconds"]
    assert 1 <= int(rejected.headers["retry-after"]) <= 60
    assert rejected.headers["access-control-allow-origin"] == "*"


async def test_clicks_leads_and_malformed_bodies_of_one_ip_address_are_counted_together(limited: Api):
    answers = [
        await limited.click(),
        await limited.post("click", content=b"{", headers={"Content-Type": "application/json"}),
        *[await limited.lead(key=None, click_id=invented(limited, number)) for number in range(1_000, 1_004)],
    ]

    assert [answer.status_code for answer in answers] == [200, 400, 400, 400, 429, 429]


async def test_calls_with_the_key_do_not_use_up_the_public_limit(limited: Api):
    statuses = [(await limited.lead(additional_data=TEST)).status_code for _ in range(6)]

    assert statuses == [200] * 6
    assert (await limited.click()).status_code == 200


async def test_the_ip_addresses_of_one_ipv6_network_share_a_limit(limited: Api):
    statuses = []
    for address in (*["2001:db8:1:2::1", "2001:db8:1:2::ffff"] * 2, "2001:db8:1:2::2", "2001:db8:1:3::1"):
        limited.come_from(address)
        statuses.append((await limited.click()).status_code)

    assert statuses == [200] * 4 + [429, 200]


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


async def test_test_events_without_a_key_make_room_for_newer_ones(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(test_mode, "MOST_WITHOUT_KEY", 3)
    with_key = (await api.lead(additional_data=TEST)).json()["data"]["eventId"]
    named = {**TEST, "program_id": api.acme.program_id}

    sent = [(await api.lead(key=None, additional_data=named)).json()["data"]["eventId"] for _ in range(6)]

    assert {row.id for row in await api.rows(test_events)} == {with_key, *sent[3:]}
    assert {row.event_id for row in await api.rows(tracking_log)} == {with_key, *sent[3:]}


async def test_test_events_without_a_key_are_deleted_after_30_days(api: Api):
    named = {**TEST, "program_id": api.acme.program_id}
    with_key = (await api.lead(additional_data=TEST)).json()["data"]["eventId"]
    await api.lead(key=None, additional_data=named)

    kept = await api.acme.store.write(test_mode.prune, at=NOW.replace(month=6, day=19))
    deleted = await api.acme.store.write(test_mode.prune, at=NOW.replace(month=6, day=20))

    assert (kept, deleted) == (0, 1)
    assert [row.id for row in await api.rows(test_events)] == [with_key]
    assert [row.event_id for row in await api.rows(tracking_log)] == [with_key]


BROWSERS = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1",
]
NEAR_BOTS = [
    *("Current" * 73, "Spider" * 85, "ContextualBot" * 39, "AdsBot-Google-", "AdsBot-Google", "AdsBot-Google x"),
    *("sentry/", "my sentry/1", "mysentry/1", "BW/1", "x BW/1", "Current x RSS Reader", "RSS Reader Current"),
    *("SSL Labs", "SSL Labs x", "\ud800 Googlebot"),
]


def test_the_matcher_gives_the_results_of_the_package_s_patterns():
    assert len(bots.PATTERNS) > 1_000
    real = [name for bot in CRAWLER_USER_AGENTS_DATA[::3] for name in bot.get("instances", ())[:2]]
    patterns = re.compile("|".join(bots.PATTERNS))

    for name in [*BROWSERS, *NEAR_BOTS, *real, *(name[1:] for name in real), *(name[:-1] for name in real)]:
        assert bots.is_bot(name) == bool(patterns.search(name)), name


def test_the_cache_of_results_is_bounded():
    assert bots.is_bot.cache_info().maxsize == 4096
