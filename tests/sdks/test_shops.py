"""Shops in each framework with the SDK as it is installed: what is recorded, and that no fault hurts a shopper."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
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
from tests.sdks.stub import DRIPS, HANGS, Canned, Stub, rejection
from tests.serving import Serve

SHOPS = Path(__file__).parent / "shops"
PYTHON = ("django", "flask", "fastapi")
ERRORS = ("invalid_key", "internal_error", "storage_unavailable", "rate_limited", "validation_error")
FAULTS: dict[str, Canned | str] = {"hangs": HANGS, "drips": DRIPS, "html": Canned(502, "<h1>Bad gateway")}
Open = Callable[..., httpx.Client]


@contextmanager
def started(name: str, installed: Path, folder: Path, **environment: str) -> Iterator[httpx.Client]:
    """Run a shop in a folder, with what is installed and no source of ours."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("SERVICE_", "PYTHONPATH"))}
    command = [sys.executable, str(SHOPS / f"{name}_shop.py")]
    environment = kept | {"PYTHONPATH": str(installed)} | environment
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        assert process.stdout
        port = process.stdout.readline().decode().strip()
        assert port, (folder / "log").read_text()
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield client
        process.terminate()


@pytest.fixture
def shop(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Open shops: `shop(name, **environment)`."""
    with ExitStack() as stack:

        def opened(name: str, **environment: str) -> httpx.Client:
            installed = request.getfixturevalue("built_python") / "installed"
            return stack.enter_context(started(name, installed, tmp_path, **environment))

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


@pytest.mark.parametrize("framework", PYTHON)
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


@pytest.mark.parametrize("framework", PYTHON)
def test_no_shopper_notices_a_fault_of_the_service(framework: str, service: Stub, shop: Open):
    opened = shop(framework, SERVICE_BASE_URL=service.base_url, SERVICE_API_KEY="aff_1_secret")

    for fault in (*FAULTS.values(), *map(rejection, ERRORS)):
        service.answers = [fault]
        since = monotonic()
        result = request(opened, "/sign-up", "user-1", "c1")
        assert result == {"status": "rejected" if fault == rejection("validation_error") else "failed", "ok": False}
        assert monotonic() - since < 2.5
