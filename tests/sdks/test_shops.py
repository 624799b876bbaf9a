"""Shops in each framework with the SDK as it is installed: what is recorded, and that no fault hurts a shopper."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest
from sqlalchemy import Connection, func, select

import storage
from storage import Storage
from storage.tables import leads, refunds, sales
from tests import world
from tests.conftest import ROOT
from tests.sdks.stub import DRIPS, HANGS, Canned, Stub, rejection
from tests.serving import Serve
from tests.snippets import faults
from web.errors import STATUS

SHOPS = Path(__file__).parent / "shops"
NEXT = ROOT / "examples/next"
NOT_BUILT = "the example is not installed and built (see examples/next/README.md)"
FRAMEWORKS = ("django", "flask", "fastapi", "express", "next")
PATIENCE_SECONDS = 3.5  # the SDKs wait for 2 seconds; a machine that runs tests is busy
ERRORS = ("invalid_key", "internal_error", "storage_unavailable", "rate_limited", "validation_error")
FAULTS: dict[str, Canned | str] = {"hangs": HANGS, "drips": DRIPS, "html": Canned(502, "<h1>Bad gateway")}
Open = Callable[..., httpx.Client]


@contextmanager
def started(command: list[str], folder: Path, log: Path, **environment: str) -> Iterator[httpx.Client]:
    """Run a shop until the block ends; its first line with a port says that it is ready."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SERVICE_", "PYTHONPATH"))}
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            command, cwd=folder, env=kept | environment, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        assert process.stdout
        ports = (re.search(r"^(?:.*127\.0\.0\.1:)?(\d+)$", line.strip()) for line in process.stdout)
        port = next((found[1] for found in ports if found), None)
        assert port, log.read_text()
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield client
        process.terminate()


@pytest.fixture
def shop(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Open shops: `shop(framework, **environment)`."""
    with ExitStack() as stack:

        def opened(framework: str, **environment: str) -> httpx.Client:
            folder = tmp_path
            if framework == "next":
                folder, command = (
                    NEXT,
                    ["node", "node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", "0"],
                )
                if not (NEXT / ".next/BUILD_ID").is_file() or not (NEXT / "node_modules/svc-affiliate").is_dir():
                    pytest.skip(NOT_BUILT)
            elif framework == "express":
                folder = request.getfixturevalue("built_node")
                command = ["node", shutil.copy(SHOPS / "express_shop.mjs", folder)]
            else:
                environment["PYTHONPATH"] = str(request.getfixturevalue("built_python") / "installed")
                command = [sys.executable, str(SHOPS / f"{framework}_shop.py")]
            return stack.enter_context(started(command, folder, tmp_path / "log", **environment))

        yield opened


@pytest.fixture
async def store(sqlite_url: str) -> AsyncIterator[Storage]:
    """Storage beside the live server."""
    async with storage.opened(sqlite_url) as opened:
        yield opened


def request(shop: httpx.Client, path: str, user: str, click_id: str | None = None) -> dict[str, Any]:
    """Let a shopper act, and return the result that the SDK gave the shop."""
    cookies = {"Cookie": f"theme=dark; svc_click_id={click_id}"} if click_id else {}
    answer = shop.post(path, params={"user": user, "invoice": f"inv-{user}"}, headers=cookies)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


def of_a_customer(shop: httpx.Client, user: str, click_id: str | None) -> list[str]:
    return [request(shop, path, user, click_id)["status"] for path in ("/sign-up", "/buy", "/refund")]


@pytest.mark.parametrize("framework", FRAMEWORKS)
async def test_a_referred_customer_is_recorded_and_an_ordinary_one_is_not(
    framework: str, store: Storage, sqlite_url: str, serve: Serve, shop: Open
):
    acme = await world.acme(store)
    click_id = await acme.visitor(at=datetime.now(UTC))
    opened = shop(framework, SERVICE_BASE_URL=serve(sqlite_url).base_url, SERVICE_API_KEY=acme.key)

    ordinary = of_a_customer(opened, "user-2", None)
    referred = of_a_customer(opened, "user-1", click_id)

    assert ordinary == ["skipped", "unattributed", "unattributed"]
    assert referred == ["recorded", "recorded", "recorded"]
    assert await store.read(_counts) == [1, 1, 1]


def _counts(connection: Connection) -> list[int]:
    return [connection.scalar(select(func.count()).select_from(table)) or 0 for table in (leads, sales, refunds)]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_no_shopper_notices_a_fault_of_the_service(framework: str, service: Stub, shop: Open):
    opened = shop(framework, SERVICE_BASE_URL=service.base_url, SERVICE_API_KEY="aff_1_secret")

    for fault in (*FAULTS.values(), *map(rejection, ERRORS)):
        service.answers = [fault]
        since = monotonic()
        result = request(opened, "/sign-up", "user-1", "c1")
        assert result == {"status": "rejected" if fault == rejection("validation_error") else "failed", "ok": False}
        assert monotonic() - since < PATIENCE_SECONDS


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_no_shopper_notices_an_error_of_any_call(framework: str, service: Stub, shop: Open):
    opened = shop(framework, SERVICE_BASE_URL=service.base_url, SERVICE_API_KEY="aff_1_secret")
    acts = [("/sign-up", "c1"), *product(("/buy", "/refund"), ("c1", None))]

    with ThreadPoolExecutor(8) as shoppers:
        for code in faults.ERRORS:
            service.answers = [Canned(STATUS[code], faults.failure(code)[1].decode())]
            results = list(shoppers.map(lambda act: request(opened, act[0], "user-1", act[1]), acts))
            assert {each["status"] for each in results} <= {"failed", "rejected", "unattributed"}, code

    assert {each.call for each in service.received} == {"lead", "sale", "refund"}


async def test_a_server_action_reports_a_form_without_javascript(
    store: Storage, sqlite_url: str, serve: Serve, shop: Open
):
    acme = await world.acme(store)
    click_id = await acme.visitor(at=datetime.now(UTC))
    opened = shop("next", SERVICE_BASE_URL=serve(sqlite_url).base_url, SERVICE_API_KEY=acme.key)
    (action,) = re.findall(r'name="(\$ACTION_ID_\w+)"', opened.get("/join").text)

    answer = opened.post(
        "/join", files={action: (None, ""), "user": (None, "user-1")}, headers={"Cookie": f"svc_click_id={click_id}"}
    )

    assert (answer.status_code, answer.headers["Location"]) == (303, "/join?status=recorded")
    assert await store.read(_counts) == [1, 0, 0]
