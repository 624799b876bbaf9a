"""Every snippet of the guides in its framework: what is recorded, and that no shopper notices a failure."""

import asyncio
import json
import re
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import product
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from presentation import guides
from presentation.guides import Filling
from tests import failing, shops
from tests.failing import AS_NAMED, BROKEN, DRIPS, ERRORS, HANGS, FailingService
from tests.serving import PLAIN, Serve
from tests.shops import recorded
from tests.world import World

SAID = {"/signup": "Welcome", "/buy": "Thank you", "/refund": "Refunded"}
CALLS = {"/signup": ("lead", 1), "/buy": ("sale", 2), "/refund": ("refund", 2)}  # an ordinary visitor is no lead
SHOPPERS = [("/signup", "c1"), *product(("/buy", "/refund"), ("c1", None))]
SLOW = [("/signup", HANGS, "c1"), ("/buy", DRIPS, None), ("/refund", HANGS, "c1")]
FAULTS = SLOW + [(path, fault, click_id) for path, click_id in SHOPPERS for fault in (*BROKEN, *ERRORS)]
SHOPS = Path(__file__).parent / "shops"
NODE = Path(__file__).parent / "node"


class Framework(NamedTuple):
    """How a shop is started (PORT is its port), its helper, and where both files are."""

    command: list[str]
    helper: str
    helper_file: str
    shop_file: str


PHP = ["php", "-d", "display_errors=1", "-S", "127.0.0.1:PORT", "shop.php"]
FRAMEWORKS = {
    "django": Framework([sys.executable, "-m", "shop", "PORT"], "python", "shop/affiliate.py", "shop/__main__.py"),
    "flask": Framework([sys.executable, "shop.py", "PORT"], "python", "affiliate.py", "shop.py"),
    "fastapi": Framework([sys.executable, "shop.py", "PORT"], "python", "affiliate.py", "shop.py"),
    "express": Framework(["node", "shop.mjs", "PORT"], "node", "affiliate.mjs", "shop.mjs"),
    "php": Framework(PHP, "php", "affiliate.php", "shop.php"),
    "laravel": Framework(PHP, "php", "affiliate.php", "shop.php"),
    "rails": Framework(["ruby", "shop.rb", "PORT"], "ruby", "app/lib/affiliate.rb", "shop.rb"),
}


class Shop:
    """A shop that runs, in a folder of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, verify=PLAIN)

    def request(self, path: str, user: str, click_id: str | None = None) -> httpx.Response:
        """Let a shopper do something: GET /, or POST to another path."""
        headers = {"Cookie": f"theme=dark; svc_click_id={click_id}; cart=1"} if click_id else {}
        if path == "/":
            return self.client.get(path, headers=headers)
        return self.client.post(path, data={"user": user}, headers=headers)

    @property
    def log(self) -> str:
        """What the shop's process has printed."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")


@contextmanager
def opened(name: str, folder: Path, filling: Filling, **environment: str) -> Iterator[Shop]:
    """Write a framework's shop with the snippets of the guides, and run it until the block ends."""
    framework = FRAMEWORKS[name]
    _write(name, folder, guides.blocks("snippets", filling) | guides.blocks("payments", filling))
    settings = {"PHP_CLI_SERVER_WORKERS": "8"} | environment
    with shops.running(framework.command, "ready|started", cwd=folder, log=folder / "log", **settings) as port:
        shop = Shop(folder, port)
        yield shop
        shop.client.close()


def _write(name: str, folder: Path, blocks: dict[str, str]) -> None:
    framework = FRAMEWORKS[name]
    template = next(SHOPS.glob(f"{name}.*")).read_text(encoding="utf-8")
    blocks = blocks | _without_imports(blocks)
    written = re.sub(
        r"^( *)(?://|#) <<(\w+)>>$", lambda at: textwrap.indent(blocks[at[2]], at[1]), template, flags=re.MULTILINE
    )
    opening = "<?php\n" if framework.helper == "php" else ""
    helper = opening + blocks[f"{framework.helper}_track"]
    for path, content in ((framework.helper_file, helper), (framework.shop_file, written)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    if name == "express":
        (folder / "node_modules").symlink_to(NODE / "node_modules")


def _without_imports(blocks: dict[str, str]) -> dict[str, str]:
    """Return the snippets whose imports belong at the top of a file: the imports, and the rest."""
    lead = blocks["express_lead"]
    imports = "\n".join(re.findall(r"^import .*$", lead, re.MULTILINE))
    return {"express_imports": imports, "express_lead": re.sub(r"^import .*\n", "", lead, flags=re.MULTILINE)}


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """A SQLite file alone."""
    return sqlite_url


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_the_snippets_record_a_referred_visitor_and_no_failure_reaches_a_shopper(
    framework: str, acme: World, sqlite_url: str, serve: Serve, tmp_path: Path
):
    click_id = await acme.visitor(at=datetime.now(UTC))
    with failing.running(serve(sqlite_url).base_url) as service:
        filling = Filling(service.base_url, acme.program_id, "www.acme.example:443")
        with opened(framework, tmp_path, filling, SERVICE_API_KEY=acme.key) as shop:
            await asyncio.to_thread(_record, shop, service, click_id)
            assert await acme.store.read(recorded) == [1, 1, 1]
            await asyncio.to_thread(_fail, shop, service)
            log = shop.log

    assert " customer_not_found: " not in log
    assert " internal_error: " in log  # where the integrator finds it
    assert "Traceback" not in log
    assert "Uncaught" not in log


def _record(shop: Shop, service: FailingService, click_id: str) -> None:
    """Let an ordinary visitor and a referred one sign up, buy and get a refund."""
    for path, (call, times) in CALLS.items():
        _act(shop, path, "user-2", None)
        _act(shop, path, "user-1", click_id)
        service.wait_for(call, times)
    _check_cookie(shop.request("/", "", click_id), click_id)


def _fail(shop: Shop, service: FailingService) -> None:
    """Let the service fail in every way under shoppers, and then be down."""
    service.received.clear()
    service.answers = [AS_NAMED]
    wanted = Counter((CALLS[path][0], fault) for path, fault, _ in FAULTS)
    with ThreadPoolExecutor(8) as shoppers:
        list(shoppers.map(lambda each: _act(shop, *each), FAULTS))
        _act(shop, "/signup", "ordinary", None)
        service.wait_until(lambda: wanted <= Counter((call.name, call.fault) for call in service.received))
        assert Counter((call.name, call.fault) for call in service.received) == wanted
        service.stop()
        list(shoppers.map(lambda each: _act(shop, each[0], "down", each[1]), product(SAID, ("c1", None))))


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


def test_wordpress_prints_the_tracker_into_the_head(tmp_path: Path):
    code = guides.blocks("snippets", Filling("https://svc.example", 7))["wordpress_tracker"]
    stub = "function add_action(string $hook, callable $print) { echo $hook; $print(); }"

    done = subprocess.run(["php", "-r", stub + code], cwd=tmp_path, capture_output=True, text=True, check=True)

    tag = 'src="https://svc.example/js/svc-tracker.js" data-svc-program-id="7"></script>'
    assert done.stdout == f"wp_head<script async {tag}"


def test_the_checkout_s_metadata_is_complete_with_and_without_a_click(tmp_path: Path):
    with opened("express", tmp_path, Filling("https://svc.example", 7)) as shop:
        referred, ordinary = (json.loads(shop.request("/checkout", "user-1", each).text) for each in ("c1", None))

    for sessions, click_id in ((referred, "c1"), (ordinary, "")):
        payment, subscription = sessions
        wanted = {"svc_click_id": click_id, "svc_customer_key": "user-1", "program_id": "7"}
        assert payment["metadata"] == payment["payment_intent_data"]["metadata"] == wanted
        assert subscription["metadata"] == subscription["subscription_data"]["metadata"] == wanted
