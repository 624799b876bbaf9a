"""Every snippet of the guides in its framework: what is recorded, and that no shopper notices a failure."""

import asyncio
import json
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import product
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, select

import storage
from presentation import guides
from presentation.guides import Filling
from storage import Storage
from storage.tables import leads, refunds, sales
from tests import failing, world
from tests.failing import AS_NAMED, BROKEN, DRIPS, ERRORS, HANGS, FailingService
from tests.serving import Serve
from tests.snippets import shop
from tests.snippets.shop import FRAMEWORKS, Answer, Shop

SAID = {"/signup": "Welcome", "/buy": "Thank you", "/refund": "Refunded"}
CALLS = {"/signup": ("lead", 1), "/buy": ("sale", 2), "/refund": ("refund", 2)}  # an ordinary visitor is no lead
SHOPPERS = [("/signup", "c1"), *product(("/buy", "/refund"), ("c1", None))]
SLOW = [("/signup", HANGS, "c1"), ("/buy", DRIPS, None), ("/refund", HANGS, "c1")]
FAULTS = SLOW + [(path, fault, click_id) for path, click_id in SHOPPERS for fault in (*BROKEN, *ERRORS)]


@pytest.fixture
async def prepare(sqlite_url: str) -> AsyncIterator[Storage]:
    """Storage beside the live server."""
    async with storage.opened(sqlite_url) as store:
        yield store


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_the_snippets_record_a_referred_visitor_and_no_failure_reaches_a_shopper(
    framework: str, prepare: Storage, sqlite_url: str, serve: Serve, tmp_path: Path
):
    acme = await world.acme(prepare)
    click_id = await acme.visitor(at=datetime.now(UTC))
    with failing.running(serve(sqlite_url).base_url) as service:
        filling = Filling(service.base_url, acme.program_id, "www.acme.example:443")
        with shop.opened(framework, tmp_path, filling, SERVICE_API_KEY=acme.key) as opened:
            await asyncio.to_thread(_record, opened, service, click_id)
            assert await prepare.read(_recorded) == [1, 1, 1]
            await asyncio.to_thread(_fail, opened, service)
            log = opened.log

    assert " customer_not_found: " not in log
    assert " internal_error: " in log  # where the integrator finds it
    assert "Traceback" not in log
    assert "Uncaught" not in log


def _record(opened: Shop, service: FailingService, click_id: str) -> None:
    """Let an ordinary visitor and a referred one sign up, buy and get a refund."""
    for path, (call, times) in CALLS.items():
        _shop(opened, path, "user-2", None)
        _shop(opened, path, "user-1", click_id)
        service.wait_for(call, times)
    _check_cookie(opened.request("/", "", click_id), click_id)


def _fail(opened: Shop, service: FailingService) -> None:
    """Let the service fail in every way under shoppers, and then be down."""
    service.received.clear()
    service.answers = [AS_NAMED]
    wanted = Counter((CALLS[path][0], fault) for path, fault, _ in FAULTS)
    with ThreadPoolExecutor(8) as shoppers:
        list(shoppers.map(lambda each: _shop(opened, *each), FAULTS))
        _shop(opened, "/signup", "ordinary", None)
        service.wait_until(lambda: wanted <= Counter((call.name, call.fault) for call in service.received))
        assert Counter((call.name, call.fault) for call in service.received) == wanted
        service.stop()
        list(shoppers.map(lambda each: _shop(opened, each[0], "down", each[1]), product(SAID, ("c1", None))))


def _shop(opened: Shop, path: str, user: str, click_id: str | None) -> None:
    answer = opened.request(path, user, click_id)
    assert (answer.status, answer.text) == (200, SAID[path]), (user, opened.log)


def _check_cookie(home: Answer, click_id: str) -> None:
    (cookie,) = (each for each in home.cookies if each.startswith("svc_click_id="))
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


def _recorded(connection: Connection) -> list[int]:
    return [int(connection.scalar(select(func.count()).select_from(table)) or 0) for table in (leads, sales, refunds)]


def test_wordpress_prints_the_tracker_into_the_head(tmp_path: Path):
    code = guides.blocks("snippets", Filling("https://svc.example", 7))["wordpress_tracker"]
    stub = "function add_action(string $hook, callable $print) { echo $hook; $print(); }"

    done = subprocess.run(["php", "-r", stub + code], cwd=tmp_path, capture_output=True, text=True, check=True)

    tag = 'src="https://svc.example/js/svc-tracker.js" data-svc-program-id="7"></script>'
    assert done.stdout == f"wp_head<script async {tag}"


def test_the_checkout_s_metadata_is_complete_with_and_without_a_click(tmp_path: Path):
    with shop.opened("express", tmp_path, Filling("https://svc.example", 7)) as opened:
        referred, ordinary = (json.loads(opened.request("/checkout", "user-1", each).text) for each in ("c1", None))

    for sessions, click_id in ((referred, "c1"), (ordinary, "")):
        payment, subscription = sessions
        wanted = {"svc_click_id": click_id, "svc_customer_key": "user-1", "program_id": "7"}
        assert payment["metadata"] == payment["payment_intent_data"]["metadata"] == wanted
        assert subscription["metadata"] == subscription["subscription_data"]["metadata"] == wanted
