"""The SDKs as they would be published: complete, typed, of the service's version, and without dependencies."""

import email
import json
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from svc_affiliate import Status, Track, resending

from tests.conftest import ROOT
from tests.sdks.reporting import KEY, Node, NodeReporter
from tests.sdks.stub import Canned, Stub, rejection
from tests.test_architecture import imported

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
PACKAGE = ROOT / "sdks/python/src/svc_affiliate"
HELPERS = {"django", "fastapi", "flask"}


def test_the_python_package_has_the_service_s_version_its_licence_types_and_no_dependencies(built_python: Path):
    with zipfile.ZipFile(next(built_python.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        described = email.message_from_bytes(wheel.read(next(name for name in names if name.endswith("METADATA"))))

    assert (described["Name"], described["Version"]) == ("svc-affiliate", VERSION)
    assert described["License-Expression"] == "Apache-2.0"
    assert described.get_all("Requires-Dist") is None
    assert "track.sale" in str(described.get_payload())
    assert {"svc_affiliate/py.typed", f"svc_affiliate-{VERSION}.dist-info/licenses/LICENSE"} <= set(names)


def test_the_source_distribution_builds_the_same_wheel(built_python: Path, tmp_path: Path):
    with tarfile.open(next(built_python.glob("*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()

    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)

    (again,), (first,) = tmp_path.glob("*.whl"), built_python.glob("*.whl")
    assert again.read_bytes() == first.read_bytes()


def test_the_python_sdk_imports_the_standard_library_and_a_helper_its_framework():
    beyond = {
        (path.stem, module.split(".")[0])
        for path in PACKAGE.glob("*.py")
        for module in imported(path)
        if module.split(".")[0] not in {*sys.stdlib_module_names, "svc_affiliate"}
    }

    assert beyond == {(name, name) for name in HELPERS}


def test_the_installed_package_is_imported_without_a_framework(built_python: Path):
    check = (
        "import svc_affiliate, sys; print(svc_affiliate.VERSION, *{'django', 'flask', 'fastapi'} & sys.modules.keys())"
    )
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(built_python / 'installed')!r}); {check}",
    ]

    done = subprocess.run(command, check=True, capture_output=True, text=True)

    assert done.stdout.split() == [VERSION]


def test_the_npm_package_has_the_service_s_version_its_licence_types_and_no_dependencies(built_node: Path):
    with tarfile.open(next(built_node.glob("*.tgz"))) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    described = json.loads((built_node / "node_modules/svc-affiliate/package.json").read_text())

    exported = [file for each in described["exports"].values() for file in each.values()]
    assert (described["name"], described["version"]) == ("svc-affiliate", VERSION)
    assert "dependencies" not in described
    assert {*(file.removeprefix("./") for file in exported), "LICENSE", "README.md"} <= names
    assert {name for name in names if not name.startswith("dist/")} == {"LICENSE", "README.md", "package.json"}


def test_a_commonjs_shop_can_require_the_npm_package(built_node: Path):
    check = "const { Track, VERSION } = require('svc-affiliate'); console.log(typeof new Track().lead, VERSION)"

    done = subprocess.run(["node", "-e", check], cwd=built_node, check=True, capture_output=True, text=True)

    assert done.stdout.split() == ["function", VERSION]


def test_the_two_sdks_share_an_outbox(built_node: Path, tmp_path: Path, service: Stub, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resending.Resender, "start", lambda *_: None)
    service.answers = [rejection("overloaded")]
    outbox = {"base_url": service.base_url, "api_key": KEY, "outbox": str(tmp_path)}
    node = Node(built_node, tmp_path / "stderr")
    NodeReporter(node, outbox).lead(click_id="c1", customer_key="user-1")
    node.end()
    python = Track(base_url=service.base_url, api_key=KEY, outbox=tmp_path)
    queued = python.sale(customer_key="user-1", amount_cents=100)
    service.received.clear()

    service.answers = [Canned()]

    assert (queued.status, python.resend()) == (Status.QUEUED, 0)
    assert [sent.call for sent in service.received] == ["lead", "sale"]
