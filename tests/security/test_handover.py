"""Crossing to another domain: only the program's own pages hand a click over, once, and never over a first click."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest

import storage
from storage.engine import recurring
from storage.rules import keys
from storage.rules.attribution import AttributionModel
from storage.rules.errors import InvalidHandover
from storage.tables import used_handovers
from storage.tracking import handovers
from tests.security.operations import code
from tests.tracking_api.conftest import Api
from tests.world import LANDING_PAGE, NOW

OF_BEN = LANDING_PAGE.replace("anna", "ben")
SHOP, PAY = "https://www.acme.example", "https://pay.example"


@pytest.fixture
async def shop(api: Api) -> Api:
    """A program with a second domain."""
    api.acme = (await api.beside(further_domains="pay.example")).acme
    return api


async def call(api: Api, name: str, origin: str | None, *, program_id: int | None = None, **body: Any) -> Any:
    headers = {} if origin is None else {"Origin": origin}
    path = f"/api/v1/track/{name}?program_id={program_id or api.acme.program_id}"
    return await api.client.post(path, headers=headers, json=body)


async def clicked(api: Api, **fields: Any) -> str:
    return str((await api.click(**fields)).json()["click_id"])


async def issued(api: Api, click_id: str) -> str:
    return str((await call(api, "handover", SHOP, click_id=click_id)).json()["token"])


async def redeemed(api: Api, token: str, *, origin: str = PAY, **body: Any) -> httpx.Response:
    answer: httpx.Response = await call(api, "redeem", origin, token=token, **body)
    return answer


async def test_a_click_crosses_once_and_in_time_between_the_programs_domains(shop: Api):
    click_id = await clicked(shop)
    token, late = await issued(shop, click_id), await issued(shop, click_id)

    answer, again = await redeemed(shop, token), await redeemed(shop, token)
    shop.at = NOW + handovers.LIFETIME
    expired = await redeemed(shop, late)
    ends = (shop.at - timedelta(seconds=1), shop.at)
    pruned = [await shop.acme.store.write(recurring.prune, used_handovers, at=at) for at in ends]

    assert ([code(again), code(expired)], pruned) == (["invalid_handover"] * 2, [0, 1])
    assert answer.json() == {"success": True, "click_id": click_id, "cookie_window_days": 60}
    assert answer.headers["access-control-allow-origin"] == PAY
    assert "access-control-allow-credentials" not in answer.headers


async def test_a_forged_token_is_rejected(shop: Api):
    anna, ben = await clicked(shop), await clicked(shop, affiliate_url=OF_BEN)
    click, expires, nonce, signature = (await issued(shop, anna)).split(".")
    forged = [
        f"{ben}.{expires}.{nonce}.{signature}",
        f"{click}.{int(expires, 16) + 9:x}.{nonce}.{signature}",
        f"{click}.{expires}.{nonce}.{'0' * 64}",
        *(anna, ".", "...", "\u00e9.x.y.z"),
    ]

    for token in forged:
        answer = await redeemed(shop, token)
        assert (answer.status_code, code(answer)) == (400, "invalid_handover"), token


@pytest.mark.both_databases
async def test_of_two_at_once_in_two_processes_one_gets_the_click(shop: Api, database_url: str):
    click_id = await clicked(shop)
    async with storage.opened(database_url) as other:
        for nonce in map(str, range(10)):
            arrival = handovers.Arrival(shop.acme.program_id, click_id, nonce, NOW, NOW)
            both = [store.write(handovers.redeem, arrival) for store in (shop.acme.store, other)]

            first, second = await asyncio.gather(*both, return_exceptions=True)

            assert isinstance(first, InvalidHandover) != isinstance(second, InvalidHandover)


FOREIGN = [
    *(None, "null", "https://evil.example", "https://evilacme.example", "https://acme.example.evil.example"),
    *("https://acme.example@evil.example", "https://pay.example/", "ftp://pay.example"),
    "https://evil.example#.pay.example",
]


async def test_a_foreign_page_gets_and_redeems_no_token(shop: Api):
    click_id = await clicked(shop)
    token = await issued(shop, click_id)

    for origin in FOREIGN:
        handed = await call(shop, "handover", origin, click_id=click_id)
        taken = await call(shop, "redeem", origin, token=token)
        for answer in (handed, taken):
            assert (answer.status_code, code(answer)) == (403, "origin_not_allowed"), origin
            assert "access-control-allow-origin" not in answer.headers


async def test_only_the_programs_pages_pass_the_preflight(shop: Api):
    path = f"/api/v1/track/redeem?program_id={shop.acme.program_id}"
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}

    own = await shop.client.options(path, headers={"Origin": PAY, **asked})
    foreign = await shop.client.options(path, headers={"Origin": "https://evil.example", **asked})

    assert (own.status_code, own.headers["access-control-allow-origin"]) == (200, PAY)
    assert "content-type" in own.headers["access-control-allow-headers"]
    assert "Origin" in own.headers["vary"].title()
    assert (foreign.status_code, [name for name in foreign.headers if name.startswith("access-control")]) == (403, [])


async def test_what_is_no_click_of_the_program_within_its_cookie_window_is_not_carried(shop: Api):
    click_id = await clicked(shop)
    for wrong in ("x", keys.click_id(2**40, NOW), f"{click_id}x"):
        answer = await call(shop, "handover", SHOP, click_id=wrong)
        assert (answer.status_code, code(answer)) == (400, "validation_error"), wrong
    invented = await redeemed(shop, await issued(shop, keys.click_id(shop.acme.program_id, NOW)))
    shop.at = NOW + timedelta(days=60, seconds=1)

    late = await redeemed(shop, await issued(shop, click_id))

    assert [code(invented), code(late)] == ["invalid_handover"] * 2


async def test_a_request_without_a_program_is_rejected(shop: Api):
    for program_id in ("", "x", "-1", "\u0661", "9" * 40):
        path = f"/api/v1/track/redeem?program_id={program_id}"
        answer = await shop.client.post(path, headers={"Origin": PAY}, json={})
        assert (answer.status_code, code(answer)) == (400, "program_id_required"), program_id
    assert code(await call(shop, "handover", SHOP, program_id=10**15 - 1, click_id="x")) == "program_not_found"


async def test_a_first_click_stays_and_an_expired_or_invented_cookie_does_not(shop: Api):
    program = await shop.beside(further_domains="pay.example", attribution_model=AttributionModel.FIRST_CLICK)
    old = await clicked(program)
    shop.at = NOW + timedelta(days=61)
    first, new = await clicked(program), await clicked(program, affiliate_url=OF_BEN)

    answers = [
        await redeemed(program, await issued(program, new), existing_click_id=existing)
        for existing in (old, keys.click_id(program.acme.program_id, NOW), first)
    ]

    assert [answer.json()["click_id"] for answer in answers] == [new, new, first]
