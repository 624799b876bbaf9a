"""The wheel has everything that the service needs: unpacked elsewhere, `svc serve` works with templates and files."""

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from presentation import guides
from tests.test_architecture import ROOT
from tests.test_dependencies import PROJECT

PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
PATHS = ["/readyz", "/sign-in", "/js/svc-tracker.js", "/docs/errors", "/docs/operations", "/openapi.json", "/llms.txt"]
# The checkout is on the path of the virtual environment; without it only the wheel has the service's modules.
ENTRY = f"""
import sys
sys.path = [{{wheel!r}}, *(path for path in sys.path if path != {str(ROOT)!r})]
from cli.main import app
app()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip would unpack the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "unpacked")
    return folder / "unpacked"


@pytest.fixture
def served(wheel: Path, tmp_path: Path) -> Iterator[str]:
    """The URL of a service that runs from the wheel, in an empty folder."""
    command = [sys.executable, "-I", "-B", "-c", ENTRY.format(wheel=str(wheel)), "serve", "--port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, env={}, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield process.stdout.readline().split()[2]
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_the_service_runs_from_the_wheel(served: str):
    with httpx.Client(base_url=served, timeout=60, follow_redirects=True) as client:
        assert {path: client.get(path).status_code for path in PATHS} == dict.fromkeys(PATHS, 200)


def test_every_file_of_the_packages_is_in_the_wheel_and_nothing_else(wheel: Path):
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]

    inside = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}

    written = {path.relative_to(ROOT).as_posix() for path in sources if path.suffix != ".pyc"}
    documents = {f"presentation/guides/docs/{name}.md" for name in (*guides.PEOPLE, *guides.OPERATORS)}
    wanted = {*written, *documents, "asgi.py", "background.py", "configuration.py"}
    assert {path for path in inside if ".dist-info/" not in path} == wanted
