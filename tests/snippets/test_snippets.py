"""Every snippet of the guides in its framework: what is recorded, and that no shopper notices a failure."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import product
from pathlib import Path
from statistics import median
from time import perf_counter

import httpx
import pytest

from presentation.guides import Filling
from tests.browser.scene import FIREFOX
from tests.failing import BROKEN, DRIPS, HANGS, PASSES_ON, FailingService
from tests.shops import recorded
from tests.snippets.shop import FORGETFUL, FRAMEWORKS, Shop, opened
from tests.world import World

SAID = {"/signup": "Welcome", "/buy": "Thank you", "/refund": "Refunded"}
CALLS = {"/signup": ("lead", 1), "/buy": ("sale", 2), "/refund": ("refund", 2)}  # an ordinary visitor is no lead
SHOPPERS = [("/signup", "c1"), *product(("/buy", "/refund"), ("c1", None))]
FAULTS = (DRIPS, *BROKEN, "internal_error", "invalid_key")  # which a later answer can settle


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_the_snippets_record_a_referred_visitor_and_no_failure_reaches_or_holds_a_shopper(
    framework: str, acme: World, service: FailingService, built_node: Path, tmp_path: Path
):
    click_id = await acme.visitor(at=datetime.now(UTC))
    filling = Filling(service.base_url, acme.program_id, "www.acme.example:443")
    with opened(framework, tmp_path, filling, built_node, SERVICE_API_KEY=acme.key) as shop:
        await asyncio.to_thread(_record, shop, service, click_id)
        assert await acme.store.read(recorded) == [1, 1, 1]
        await asyncio.to_thread(_check_pages, shop, service, click_id)
        await asyncio.to_thread(_fail, shop, service)
        if framework not in FORGETFUL:
            await asyncio.to_thread(_send_again, shop, service)
        service.stop()
        for path in SAID:
            await asyncio.to_thread(_act, shop, path, "down", "c1")
        log = shop.log

    assert "customer_not_found" not in log
    assert re.search("not sent|queued", log)  # where the integrator finds it
    assert "Traceback" not in log
    assert "Uncaught" not in log


def _record(shop: Shop, service: FailingService, click_id: str) -> None:
    """Let an ordinary visitor and a referred one sign up, buy and get a refund."""
    for path, (call, times) in CALLS.items():
        _act(shop, path, "user-2", None)
        _act(shop, path, "user-1", click_id)
        service.wait_for(call, times)


def _check_pages(shop: Shop, service: FailingService, click_id: str) -> None:
    """Open pages with the cookie, and through a partner's link without JavaScript."""
    home = shop.request("/", "", click_id)
    linked = shop.client.get("/?aff=anna", headers={"User-Agent": FIREFOX})

    tag = f'<script async src="{service.base_url}/js/svc-tracker.js" data-svc-program-id="1"></script>'
    assert tag in home.text
    _check_cookie(home, click_id)
    (click,) = service.bodies("click")
    assert (click["affiliate_url"], click["user_agent"]) == (str(linked.url), FIREFOX)
    assert service.received[-1].headers["x-forwarded-for"] == "127.0.0.1"
    assert "svc_click_id=" in linked.headers["set-cookie"]


def _fail(shop: Shop, service: FailingService) -> None:
    """Let the service fail in every way under shoppers; a page is as fast as without a call when the service hangs."""
    without = median(_seconds(shop, None) for _ in range(9))
    service.answers = [HANGS]
    assert median(_seconds(shop, "c1") for _ in range(9)) < without + 0.05
    for fault in FAULTS:
        service.answers = [fault]
        with ThreadPoolExecutor(8) as shoppers:
            list(shoppers.map(lambda each: _act(shop, each[0], f"{fault}-{each[1]}", each[1]), SHOPPERS))  # noqa: B023


def _send_again(shop: Shop, service: FailingService) -> None:
    """Let the service recover: what did not arrive is sent again, by the shop or by a scheduled task."""
    wanted = {("lead", HANGS), *product(("lead", "sale"), [f"{fault}-c1" for fault in FAULTS])}
    known = len(service.received)
    service.answers = [PASSES_ON]
    shop.run_scheduled_task()
    service.wait_until(
        lambda: wanted <= {(call.name, call.body.get("customer_key")) for call in service.received[known:]}
    )


def _seconds(shop: Shop, click_id: str | None) -> float:
    started = perf_counter()
    _act(shop, "/signup", HANGS, click_id)
    return perf_counter() - started


def _act(shop: Shop, path: str, user: str, click_id: str | None) -> None:
    answer = shop.request(path, user, click_id)
    assert (answer.status_code, answer.text) == (200, SAID[path]), (user, shop.log)


def _check_cookie(home: httpx.Response, click_id: str) -> None:
    (cookie,) = (each for each in home.headers.get_list("set-cookie") if each.startswith("svc_click_id="))
    (_, value), *pairs = (part.partition("=")[::2] for part in cookie.split("; "))
    attributes = {name.lower(): said for name, said in pairs}
    assert value == click_id
    assert (attributes["path"], attributes["domain"].lstrip(".")) == ("/", "acme.example")
    assert attributes["samesite"].lower() == "lax"
    assert "httponly" not in attributes  # the tracker reads it
    if "max-age" in attributes:
        assert attributes["max-age"] == "5184000"
    else:  # Rails
        days = (parsedate_to_datetime(attributes["expires"]) - datetime.now(UTC)).total_seconds() / 86_400
        assert 59.9 < days < 60.1
