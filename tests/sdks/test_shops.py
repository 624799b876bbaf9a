"""Shops in each framework with the SDK as it is installed: what is recorded, and that no fault hurts a shopper."""

import re
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests import failing, serving, shops
from tests.conftest import ROOT
from tests.failing import CUTS, DRIPS, HANGS, PASSES_ON, FailingService
from tests.shops import recorded
from tests.world import World

SHOPS = Path(__file__).parent / "shops"
NEXT = ROOT / "examples/next"
READY = "[Rr]eady"
FRAMEWORKS = ("express", "next")  # Python's: tests/sdks/python/test_python.py
FAULTS = {HANGS: "failed", DRIPS: "failed", CUTS: "failed", "html": "failed", "validation_error": "rejected"}


class Shop(NamedTuple):
    """A shop that runs, the service that it calls, and Acme's program there."""

    client: httpx.Client
    service: FailingService
    acme: World

    def act(self, path: str, user: str, click_id: str | None = None) -> dict[str, Any]:
        """Let a shopper act, and return the result that the SDK gave the shop."""
        cookies = {"Cookie": f"theme=dark; svc_click_id={click_id}"} if click_id else {}
        answer = self.client.post(path, params={"user": user, "invoice": f"inv-{user}"}, headers=cookies)
        assert answer.status_code == 200, answer.text
        result: dict[str, Any] = answer.json()
        return result

    def statuses(self, user: str, click_id: str | None) -> list[str]:
        """Let a customer sign up, buy, and get a refund."""
        return [self.act(path, user, click_id)["status"] for path in ("/sign-up", "/buy", "/refund")]


@pytest.fixture(params=FRAMEWORKS)
async def shop(
    request: pytest.FixtureRequest, acme: World, sqlite_url: str, built_node: Path, tmp_path: Path
) -> AsyncIterator[Shop]:
    """The shop of each framework in turn."""
    command, folder = ["node", "node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", "PORT"], NEXT
    if request.param == "express":
        command, folder = ["node", shutil.copy(SHOPS / "express_shop.mjs", built_node), "PORT"], built_node
    environment = {"SERVICE_API_KEY": acme.key}
    with serving.in_a_thread(sqlite_url) as served, failing.running(served.base_url) as service:
        environment["SERVICE_BASE_URL"] = service.base_url
        with (
            shops.running(command, READY, cwd=folder, log=tmp_path / "log", **environment) as port,
            httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
        ):
            yield Shop(client, service, acme)
            service.over.set()  # a shop does not end before its calls


async def test_a_shop_records_a_referred_customer_and_no_shopper_notices_a_fault(shop: Shop):
    click_id = await shop.acme.visitor(at=datetime.now(UTC))

    ordinary = shop.statuses("user-2", None)
    referred = shop.statuses("user-1", click_id)
    failed = {}
    for fault in FAULTS:
        shop.service.answers = [fault]
        failed[fault] = shop.act("/sign-up", "user-3", "c1")

    assert ordinary == ["skipped", "unattributed", "unattributed"]
    assert referred == ["recorded", "recorded", "recorded"]
    assert await shop.acme.store.read(recorded) == [1, 1, 1]
    assert failed == {fault: {"status": status, "ok": False} for fault, status in FAULTS.items()}


@pytest.mark.parametrize("shop", ["next"], indirect=True)
async def test_a_server_action_reports_a_form_without_javascript(shop: Shop):
    click_id = await shop.acme.visitor(at=datetime.now(UTC))
    (action,) = re.findall(r'name="(\$ACTION_ID_\w+)"', shop.client.get("/join").text)

    answer = shop.client.post(
        "/join", files={action: (None, ""), "user": (None, "user-1")}, headers={"Cookie": f"svc_click_id={click_id}"}
    )

    assert (answer.status_code, answer.headers["Location"]) == (303, "/join?status=recorded")
    assert shop.service.answers == [PASSES_ON]
    assert await shop.acme.store.read(recorded) == [1, 0, 0]
