"""Python's packages as they would be published: the SDK needs nothing, the integrator's `svc` no server."""

import email
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import typer

from cli.main import OF_OPERATORS, app
from tests.conftest import ROOT
from tests.tables import table
from tests.test_architecture import OURS, imported
from tests.test_deploy import NEEDED, PROJECT, PROVIDERS, names, normalized

VERSION = PROJECT["project"]["version"]
COMMAND = table("../sdks/cli/pyproject.toml")
SOURCES = [ROOT / "cli/main.py", *(ROOT / "cli/integrator").rglob("*.py")]
MOST_BYTES = 25 * 1024 * 1024  # the server takes more than 200 MB
UV = [sys.executable, "-m", "uv"]


def test_the_python_package_has_the_service_s_version_its_licence_types_and_imports_nothing_else(built_python: Path):
    with zipfile.ZipFile(next(built_python.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        described = email.message_from_bytes(wheel.read(next(name for name in names if name.endswith("METADATA"))))

    assert (described["Name"], described["Version"]) == ("svc-affiliate", VERSION)
    assert described["License-Expression"] == "Apache-2.0"
    assert described.get_all("Requires-Dist") is None
    assert "track.sale" in str(described.get_payload())
    assert {"svc_affiliate/py.typed", f"svc_affiliate-{VERSION}.dist-info/licenses/LICENSE"} <= set(names)
    check = f"import sys; sys.path.insert(0, {str(built_python / 'installed')!r}); import svc_affiliate as sdk"
    command = [sys.executable, "-I", "-S", "-c", f"{check}; print(sdk.VERSION)"]  # without site-packages
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == [VERSION]


def test_the_command_declares_what_it_imports_as_the_server_does():
    packages = {module.split(".")[0] for path in SOURCES for module in imported(path)} - OURS
    providers = {normalized(each) for package in packages for each in PROVIDERS.get(package, ())}
    needed = COMMAND["project"]["dependencies"]

    assert names(needed) == providers
    assert set(needed) <= set(NEEDED)


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean environment with the built package and what it needs, in the versions that the server pins."""
    folder = tmp_path_factory.mktemp("cli")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT / "sdks/cli", check=True, capture_output=True)
    subprocess.run([*UV, "venv", "-q", str(folder / "venv")], check=True)
    pins = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    (folder / "pins").write_text("\n".join(line.partition(" ")[0] for line in pins if "==" in line))
    install = [*UV, "pip", "install", "-q", "--python", str(folder / "venv"), "-c", str(folder / "pins")]
    subprocess.run([*install, str(next(folder.glob("*.whl")))], check=True)
    return folder / "venv"


def svc(environment: Path, folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    dropped = ("SVC_", "SERVICE_", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    command = [str(environment / "bin/svc"), *arguments]
    return subprocess.run(command, cwd=folder, env=kept | settings, capture_output=True, text=True, check=False)


@pytest.mark.shops
def test_the_command_is_small_and_has_every_command_for_integrators_alone(environment: Path, tmp_path: Path):
    modules = sorted(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in SOURCES)
    command = [str(environment / "bin/python"), "-I", "-c", f"import {', '.join(modules)}"]

    helped = svc(environment, tmp_path, "--help")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    size = sum(path.stat().st_size for path in environment.rglob("*") if path.is_file() and not path.is_symlink())

    ours = set(typer.main.get_group(app).commands)
    assert helped.returncode == 0, helped.stderr
    assert {name for name in [*ours, *OF_OPERATORS] if f" {name} " in helped.stdout} == ours
    assert done.returncode == 0, done.stderr
    assert size < MOST_BYTES
