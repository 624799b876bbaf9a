"""Every snippet of the guides in its framework: what is recorded, and that no shopper notices a failure."""

import asyncio
import json
import re
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import product
from pathlib import Path
from threading import Event

import pytest
from sqlalchemy import Connection, func, select

import storage
from presentation import guides
from presentation.guides import Filling
from storage import Storage
from storage.tables import leads, refunds, sales
from tests import world
from tests.serving import Serve
from tests.snippets import faults, shop
from tests.snippets.shop import FRAMEWORKS, Answer, Shop

PATIENCE_SECONDS = 4.5  # the snippets wait for 2 seconds; a machine that runs tests is busy
SAID = {"/signup": "Welcome", "/buy": "Thank you", "/refund": "Refunded"}
EXAMPLE = Path(__file__).parent.parent.parent / "examples/next"
SDK_SHOPS = Path(__file__).parent.parent / "sdks/shops"
CALLS = {"/signup": "lead", "/buy": "sale", "/refund": "refund"}
SHOPPERS = [("/signup", "c1"), *product(("/buy", "/refund"), ("c1", None))]  # who calls: an ordinary visitor is no lead
SLOW = [(path, fault, click_id) for path, click_id in SHOPPERS for fault in faults.SLOW]
FAST = [(path, fault, click_id) for path, click_id in SHOPPERS for fault in (*faults.BROKEN, *faults.ERRORS)]


@pytest.fixture
async def prepare(sqlite_url: str) -> AsyncIterator[Storage]:
    """Storage beside the live server."""
    async with storage.opened(sqlite_url) as store:
        yield store


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_referred_visitor_is_recorded_and_an_ordinary_one_is_not(
    framework: str, prepare: Storage, sqlite_url: str, serve: Serve, tmp_path: Path
):
    acme = await world.acme(prepare)
    click_id = await acme.visitor(at=datetime.now(UTC))
    served = serve(sqlite_url)
    filling = Filling(served.base_url, acme.program_id, "www.acme.example:443")

    with shop.opened(framework, tmp_path, filling, SERVICE_API_KEY=acme.key) as opened:
        for number, path in enumerate(SAID):
            for user, cookie in (("user-2", None), ("user-1", click_id)):
                answer = await asyncio.to_thread(opened.request, path, user, cookie)
                assert (answer.status, answer.text) == (200, SAID[path]), opened.log
            await _until_recorded(prepare, number)
        home = await asyncio.to_thread(opened.request, "/", "", click_id)

    assert await prepare.read(_recorded) == [1, 1, 1]
    assert "customer_not_found" not in opened.log
    _check_cookie(home, click_id)


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


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_no_failure_of_the_service_reaches_a_shopper(framework: str, tmp_path: Path):
    with (
        faults.failing() as service,
        shop.opened(framework, tmp_path, Filling(service.base_url, 1), SERVICE_API_KEY="aff_1_x") as opened,
        ThreadPoolExecutor(len(SLOW)) as shoppers,
    ):
        if FRAMEWORKS[framework].helper == "php":  # whose own server has a queue
            slow = [("/signup", "hangs", "c1"), ("/buy", "drips", None), ("/refund", "hangs", "c1")]
            for each in slow:
                _shop(opened, *each)
        else:
            slow = SLOW
            list(shoppers.map(lambda each: _shop(opened, *each), slow))
        list(shoppers.map(lambda each: _shop(opened, *each), FAST))
        _shop(opened, "/signup", "ordinary", None)
        service.wait_for(Counter((CALLS[path], fault) for path, fault, _ in slow + FAST))
        service.down()
        list(shoppers.map(lambda each: _shop(opened, each[0], "down", each[1]), product(SAID, ("c1", None))))

    assert "internal_error" in opened.log  # where the integrator finds it
    assert "Traceback" not in opened.log
    assert "Uncaught" not in opened.log


def _shop(opened: Shop, path: str, user: str, click_id: str | None) -> None:
    answer = opened.request(path, user, click_id)
    assert (answer.status, answer.text) == (200, SAID[path]), (user, opened.log)
    assert answer.seconds < PATIENCE_SECONDS, (path, user)


@pytest.mark.slow
def test_wordpress_prints_the_tracker_into_the_head(tmp_path: Path):
    code = guides.blocks("snippets", Filling("https://svc.example", 7))["wordpress_tracker"]
    stub = "function add_action(string $hook, callable $print) { echo $hook; $print(); }"

    done = subprocess.run(["php", "-r", stub + code], cwd=tmp_path, capture_output=True, text=True, check=True)

    tag = 'src="https://svc.example/js/svc-tracker.js" data-svc-program-id="7"></script>'
    assert done.stdout == f"wp_head<script async {tag}"


def test_every_snippet_is_run_somewhere():
    filling = Filling("https://svc.example", 1)
    named = {name: code for guide in guides.NAMES for name, code in guides.blocks(guide, filling).items()}
    pasted = {name for path in shop.SHOPS.iterdir() for name in re.findall(r"<<(\w+)>>", path.read_text())}
    files = [path.read_text() for path in EXAMPLE.glob("**/*.*js*") if not {"node_modules", ".next"} & {*path.parts}]
    in_example = {name for name, code in named.items() if any(_has(text, code) for text in files)}

    assert named.keys() - pasted - in_example == {
        *("php_track", "ruby_track", "python_track"),  # in the shops, as a file of their own
        *("tracker", "tracker_tag", "tracker_installed", "cases_tracker"),  # tests/browser/test_guide_tags.py
        *("nginx_proxy", "nginx_proxied", "caddy_proxied", "proxied_tag"),  # tests/browser/test_proxies.py
        *("nginx_renamed", "caddy_renamed", "renamed_tag"),
        "stub",  # tests/browser/test_guests.py
        *(guides.blocks("verify", filling).keys() - {"tracker_installed"}),  # test_checklist.py, as the next one
        "tracker_pinned",
        *("sdk_python", "sdk_node"),  # tests/sdks/test_shops.py
        "wordpress_tracker",
    }
    assert _has((SDK_SHOPS / "django_shop.py").read_text(), named["sdk_python"])
    assert _has("".join(files), named["sdk_node"])
    for guide in guides.NAMES:
        assert re.findall(r"^```\w+$", guides.text(guide), re.MULTILINE) == []


def _has(text: str, code: str) -> bool:
    """Say whether an example has every line of a snippet; it may import from another path."""
    lines = [line.strip() for line in code.splitlines()]
    return all(line in text for line in lines if not line.startswith(("//", "import ", "from ")))


@pytest.mark.slow
def test_the_checkout_s_metadata_is_complete_with_and_without_a_click(tmp_path: Path):
    with faults.failing() as service, shop.opened("express", tmp_path, Filling(service.base_url, 7)) as opened:
        referred, ordinary = (json.loads(opened.request("/checkout", "user-1", each).text) for each in ("c1", None))

    for sessions, click_id in ((referred, "c1"), (ordinary, "")):
        payment, subscription = sessions
        wanted = {"svc_click_id": click_id, "svc_customer_key": "user-1", "program_id": "7"}
        assert payment["metadata"] == payment["payment_intent_data"]["metadata"] == wanted
        assert subscription["metadata"] == subscription["subscription_data"]["metadata"] == wanted


def _recorded(connection: Connection) -> list[int]:
    return [int(connection.scalar(select(func.count()).select_from(table)) or 0) for table in (leads, sales, refunds)]


async def _until_recorded(store: Storage, number: int) -> None:
    """Wait for a call that the shop sends after its response."""
    for _ in range(300):
        if (await store.read(_recorded))[number]:
            return
        await asyncio.to_thread(Event().wait, 0.02)
    pytest.fail("the call did not arrive")
