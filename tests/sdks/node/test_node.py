"""Node's SDK, which has an `sdk` of its own here: what holds for Python's, and the package as it would be published."""

import json
import subprocess
import tarfile
from pathlib import Path

from svc_affiliate import Status, Track

from tests.failing import Answer, FailingService
from tests.generated import npm_version
from tests.sdks.conftest import KEY, Sdk
from tests.sdks.python.test_outbox import *  # noqa: F403 - every test of the module, once more
from tests.sdks.python.test_track import *  # noqa: F403


def test_the_package_has_the_service_s_version_its_licence_types_and_no_dependencies(built_node: Path):
    with tarfile.open(next(built_node.glob("*.tgz"))) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    described = json.loads((built_node / "node_modules/svc-affiliate/package.json").read_text())

    exported = [file for each in described["exports"].values() for file in each.values()]
    assert (described["name"], described["version"]) == ("svc-affiliate", npm_version())
    assert "dependencies" not in described
    assert {*(file.removeprefix("./") for file in exported), "LICENSE", "README.md"} <= names
    assert {name for name in names if not name.startswith("dist/")} == {"LICENSE", "README.md", "package.json"}


def test_a_commonjs_shop_can_require_the_package(built_node: Path):
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
