"""A stub of the service, and the SDKs as their users install them: built, then unpacked."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from svc_affiliate import log

from tests.sdks import stub
from tests.sdks.stub import Stub

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """A stub, with an SDK that has not logged anything yet."""
    monkeypatch.setattr(log, "_said", {})
    for name in [name for name in os.environ if name.startswith("SERVICE_")]:
        monkeypatch.delenv(name)
    with stub.running() as running:
        yield running


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
