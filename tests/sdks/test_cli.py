"""The integrator's `svc` as a package of its own: small, without the server, and with every command for integrators."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from cli.main import OF_OPERATORS, app
from tests.conftest import ROOT
from tests.sdks.python.test_package import SOURCES

MOST_BYTES = 25 * 1024 * 1024  # the server takes more than 200 MB
UV = [sys.executable, "-m", "uv"]


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
    """Run the installed command in a folder."""
    dropped = ("SVC_", "SERVICE_", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    command = [str(environment / "bin/svc"), *arguments]
    return subprocess.run(command, cwd=folder, env=kept | settings, capture_output=True, text=True, check=False)


def test_it_is_small_and_has_every_command_for_integrators_alone(environment: Path, tmp_path: Path):
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
