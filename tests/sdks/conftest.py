"""A stub of the service, and the SDKs as their users install them: built, then unpacked."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from svc_affiliate import AsyncTrack, Track, log

from tests.conftest import ROOT
from tests.sdks import stub
from tests.sdks.reporting import DRIVER, KEY, Node, NodeReporter, PythonReporter, Reporter
from tests.sdks.stub import Stub

NODE_SDK = ROOT / "sdks/node"
NOT_INSTALLED = "the SDK's development packages are not installed (npm ci --prefix sdks/node)"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A stub, with an SDK that has not logged anything yet."""
    monkeypatch.setattr(log, "_said", {})
    for name in [name for name in os.environ if name.startswith("SERVICE_")]:
        monkeypatch.delenv(name)
    with stub.running() as running:
        yield running


@dataclass
class Sdk:
    """An SDK of one kind: `sdk(**options)` makes a Track for the stub, `logged` is what it has logged."""

    kind: str
    make: Callable[[dict[str, Any]], Reporter]
    logged: Callable[[], list[str]]
    service: Stub

    def __call__(self, **options: Any) -> Reporter:
        return self.make({"base_url": self.service.base_url, "api_key": KEY, **options})


@pytest.fixture(params=["threads", "asyncio", "node"])
def sdk(
    request: pytest.FixtureRequest, service: Stub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> Iterator[Sdk]:
    """Each SDK in turn."""
    if request.param == "node":
        node = Node(request.getfixturevalue("built_node"), tmp_path / "stderr")
        lines = lambda: (tmp_path / "stderr").read_text().splitlines()  # noqa: E731 - as short as it is
        yield Sdk("node", lambda options: NodeReporter(node, _of_node(options)), lines, service)
        node.end()
    else:
        kind = Track if request.param == "threads" else AsyncTrack
        messages = lambda: [record.getMessage() for record in caplog.records]  # noqa: E731 - as above
        yield Sdk(request.param, lambda options: PythonReporter(kind(**options)), messages, service)


def _of_node(options: dict[str, Any]) -> dict[str, Any]:
    """Return options as Node's SDK names them."""
    if "timeout_seconds" in options:
        options["timeout_ms"] = options.pop("timeout_seconds") * 1000
    return {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}


@pytest.fixture(scope="session")
def built_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built packages, and in `installed` the wheel without anything else."""
    folder = tmp_path_factory.mktemp("python-sdk")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT / "sdks/python", check=True, capture_output=True)
    wheel = next(folder.glob("*.whl"))
    install = [sys.executable, "-m", "uv", "pip", "install", "-q", "--offline", "--no-deps", "--target"]
    subprocess.run([*install, str(folder / "installed"), str(wheel)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def built_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which Express and the packed package are installed; the package's archive is beside them."""
    if not (NODE_SDK / "node_modules").is_dir():
        pytest.skip(NOT_INSTALLED)
    project = tmp_path_factory.mktemp("node-sdk")
    source = project / "source"
    shutil.copytree(NODE_SDK, source, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (source / "node_modules").symlink_to(NODE_SDK / "node_modules")
    command = ["npm", "pack", "--silent", "--pack-destination", str(project)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    with tarfile.open(next(project.glob("*.tgz"))) as archive:
        archive.extractall(project / "node_modules", filter="data")
    (project / "node_modules/package").rename(project / "node_modules/svc-affiliate")
    (project / "node_modules/express").symlink_to(NODE_SDK / "node_modules/express")
    shutil.copy(DRIVER, project)
    return project
