"""Node's SDK, which has an `sdk` of its own here: what holds for Python's, its frameworks, and its package."""

import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from svc_affiliate import Status, Track

from tests import shops
from tests.conftest import ROOT
from tests.failing import CUTS, DRIPS, HANGS, Answer, FailingService
from tests.generated import npm_version
from tests.sdks.conftest import KEY, Sdk
from tests.sdks.python.test_outbox import *  # noqa: F403 - every test of the module, once more
from tests.sdks.python.test_track import *  # noqa: F403

SHOPS = {
    "express": ["node", "express_shop.mjs", "PORT"],
    "next": ["node", "node_modules/next/dist/bin/next", "start", "-H", "127.0.0.1", "-p", "PORT"],
}
FAULTS = {HANGS: "failed", DRIPS: "failed", CUTS: "failed", "html": "failed", "validation_error": "rejected"}
REFERRED = {"Cookie": "theme=dark; svc_click_id=c1"}


@pytest.fixture
def shop(
    request: pytest.FixtureRequest, service: FailingService, built_node: Path, tmp_path: Path
) -> Iterator[httpx.Client]:
    """A shop of a framework with the installed package."""
    shutil.copy(Path(__file__).with_name("express_shop.mjs"), built_node)
    folder = built_node if request.param == "express" else ROOT / "examples/next"
    environment = {"SERVICE_API_KEY": KEY, "SERVICE_BASE_URL": service.base_url}
    options: Any = {"params": {"user": "u-1", "invoice": "i-1"}, "timeout": 60}
    with shops.running(SHOPS[request.param], "[Rr]eady", cwd=folder, log=tmp_path / "log", **environment) as (port, _):
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", **options) as client:
            yield client
        service.over.set()  # a shop does not end before its calls


@pytest.mark.parametrize("shop", SHOPS, indirect=True)
def test_a_shop_reports_a_referred_customer_and_no_shopper_notices_a_fault(shop: httpx.Client, service: FailingService):
    def act(path: str, headers: dict[str, str]) -> Any:
        answer = shop.post(path, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    ordinary, referred = (
        [act(path, headers)["status"] for path in ("/sign-up", "/buy", "/refund")] for headers in ({}, REFERRED)
    )
    sent = [(call.name, call.body.get("click_id")) for call in service.received]
    failed = {}
    for fault in FAULTS:
        service.answers = [fault]
        failed[fault] = act("/sign-up", REFERRED)

    assert (ordinary, referred) == (["skipped", "recorded", "recorded"], ["recorded"] * 3)
    assert sent == [("sale", None), ("refund", None), ("lead", "c1"), ("sale", "c1"), ("refund", None)]
    assert failed == {fault: {"status": status, "ok": False} for fault, status in FAULTS.items()}


@pytest.mark.parametrize("shop", ["next"], indirect=True)
def test_a_server_action_reports_a_form_without_javascript(shop: httpx.Client, service: FailingService):
    (action,) = re.findall(r'name="(\$ACTION_ID_\w+)"', shop.get("/join").text)

    answer = shop.post("/join", files={action: (None, ""), "user": (None, "user-1")}, headers=REFERRED)

    assert (answer.status_code, answer.headers["Location"]) == (303, "/join?status=recorded")
    assert service.bodies("lead") == [{"click_id": "c1", "customer_key": "user-1"}]


def test_the_package_has_a_version_a_licence_types_no_dependencies_and_works_in_commonjs(built_node: Path):
    with tarfile.open(next(built_node.glob("*.tgz"))) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    described = json.loads((built_node / "node_modules/svc-affiliate/package.json").read_text())

    exported = [file for each in described["exports"].values() for file in each.values()]
    assert (described["name"], described["version"]) == ("svc-affiliate", npm_version())
    assert "dependencies" not in described
    assert {*(file.removeprefix("./") for file in exported), "LICENSE", "README.md"} <= names
    assert {name for name in names if not name.startswith("dist/")} == {"LICENSE", "README.md", "package.json"}
    check = "const { Track, VERSION } = require('svc-affiliate'); console.log(typeof new Track().lead, VERSION)"
    done = subprocess.run(["node", "-e", check], cwd=built_node, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["function", npm_version()]


def test_the_two_sdks_share_an_outbox(sdk: Sdk, tmp_path: Path, service: FailingService):
    service.answers = ["overloaded"]
    sdk(outbox=tmp_path / "outbox").lead(click_id="c1", customer_key="user-1")
    python = Track(base_url=service.base_url, api_key=KEY, outbox=tmp_path / "outbox")
    queued = python.sale(customer_key="user-1", amount_cents=100)
    service.received.clear()

    service.answers = [Answer()]

    assert (queued.status, python.resend()) == (Status.QUEUED, 0)
    assert [sent.name for sent in service.received] == ["lead", "sale"]
