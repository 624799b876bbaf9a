"""A service that fails, Python's SDK, and both SDKs as their users install them: built, then unpacked."""

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
from svc_affiliate import Track, delivery, result

from tests import failing
from tests.conftest import ROOT

KEY = "aff_1_secret"
NODE_SDK = ROOT / "sdks/node"


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[failing.FailingService]:
    """A service, with an SDK that has not logged anything yet."""
    monkeypatch.setattr(result, "_said", {})
    for name in [name for name in os.environ if name.startswith("SERVICE_")]:
        monkeypatch.delenv(name)
    with failing.running() as running:
        yield running


@pytest.fixture
def no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resend only when a test says so."""
    monkeypatch.setattr(delivery, "start", lambda *_: None)


@dataclass
class Sdk:
    """`sdk(**options)` makes a Track for the service; `logged` is what it has logged."""

    service: failing.FailingService
    make: Callable[..., Any]
    logged: Callable[[], list[str]]

    def __call__(self, **options: Any) -> Any:
        return self.make(**{"base_url": self.service.base_url, "api_key": KEY, **options})


@pytest.fixture
def sdk(service: failing.FailingService, caplog: pytest.LogCaptureFixture) -> Sdk:
    """Python's SDK for threads; tests/sdks/node has one of its own."""
    return Sdk(service, Track, lambda: [record.getMessage() for record in caplog.records])


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
    return project
