"""What is installed: pinned packages that are declared, a wheel that serves alone, and deploy/, whose names exist."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import httpx
import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

import storage
from configuration import OLD_SECRET_KEY, Configuration, variable_of
from presentation import guides
from tests import shops
from tests.needs import NEEDS
from tests.tables import table
from tests.test_architecture import OURS, ROOT, imported, relative, sources
from tests.world import NOW
from web.metrics import registry

PROJECT: dict[str, Any] = table("../pyproject.toml")
NEEDED: list[str] = PROJECT["project"]["dependencies"]
EXTRAS: list[str] = [each for extra in PROJECT["project"]["optional-dependencies"].values() for each in extra]
DEVELOPMENT: list[str] = [each for each in PROJECT["dependency-groups"]["dev"] if isinstance(each, str)]
PROVIDERS = packages_distributions()  # import name: the packages that provide it
PINNED = re.compile(r"[\w.-]+==\S+.*( \\\n    --hash=sha256:[0-9a-f]{64})+$")
DEPLOY = ROOT / "deploy"
FILES = sorted(path for path in DEPLOY.iterdir() if path.is_file())
SUFFIXES = ("_total", "_bucket", "_sum", "_count")
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
PATHS = ["/readyz", "/sign-in", "/js/svc-tracker.js", "/docs/errors", "/docs/operations", "/openapi.json", "/llms.txt"]
COMMIT = "web/commit.txt"  # where the build knows it
# The checkout is on the path of the virtual environment; without it only the wheel has the service's modules.
ENTRY = f"""
import sys
sys.path = [{{wheel!r}}, *(path for path in sys.path if path != {str(ROOT)!r})]
from cli.main import app
app()
"""


def names(requirements: list[str]) -> set[str]:
    """Return the normalized names of packages."""
    found = (re.match(r"[\w.-]+", requirement) for requirement in requirements)
    return {normalized(name[0]) for name in found if name}


def normalized(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def undeclared(path: Path, declared: set[str]) -> list[str]:
    """Return the packages of others that a file imports and nobody declared."""
    packages = {module.split(".")[0] for module in imported(path)} - OURS - sys.stdlib_module_names
    providers = {package: set(map(normalized, PROVIDERS.get(package, [package]))) for package in packages}
    return [f"{relative(path)} imports {package}" for package, by in providers.items() if not by & declared]


def test_the_service_declares_what_it_imports_and_so_do_its_tests():
    files = {path: path.relative_to(ROOT).parts[0] for path in sources()}
    service = [path for path, folder in files.items() if folder not in {"tests", "benchmarks", "sdks"}]
    development = [path for path, folder in files.items() if folder in {"tests", "benchmarks"}]

    assert [found for path in service for found in undeclared(path, names(NEEDED + EXTRAS))] == []
    assert [found for path in development for found in undeclared(path, names(NEEDED + DEVELOPMENT))] == []


def test_a_lock_pins_every_package_by_version_and_hash():
    for lock in ("requirements.lock", "requirements-dev.lock"):
        content = (ROOT / lock).read_text(encoding="utf-8")
        pinned = re.split(r"\n(?=[a-z])", re.sub(r"^#.*\n", "", content, flags=re.MULTILINE).strip())

        assert [entry for entry in pinned if not PINNED.match(entry)] == [], lock
        assert names(NEEDED) <= names(pinned), lock
        assert "://" not in content, lock
        assert "index-url" not in content, lock


def test_no_lock_of_npm_names_a_registry():
    tests = [ROOT / need.name / "package-lock.json" for need in NEEDS if need.kind == "npm"]
    locks = {relative(path): path.read_text(encoding="utf-8") for path in [*ROOT.glob("*/*/package-lock.json"), *tests]}

    assert len(locks) >= 9
    assert [path for path, lock in locks.items() if '"resolved"' in lock or re.search("registry[./]", lock)] == []


async def test_every_metric_and_variable_that_is_named_exists_and_every_alert_says_what_to_do(sqlite_url: str):
    async with storage.opened(sqlite_url, replica_url=sqlite_url) as store:
        await store.measure_replica(at=NOW)
        known = {metric.name for metric in registry(store, DEPLOY).collect()} | {"svc_click_id", "svc_build_info"}
    variables = {*map(variable_of, Configuration.model_fields), OLD_SECRET_KEY}
    for path in [*FILES, *(ROOT / name for name in ("Dockerfile", "docs/configuration.md", "docs/operations.md"))]:
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"\bsvc_[a-z_]+(?=[{[( )`\s,*]|$)", text)
        bare = {name.removesuffix(next((each for each in SUFFIXES if name.endswith(each)), "")) for name in named}

        assert bare - known == set(), path
        assert set(re.findall(r"\bSVC_[A-Z_]+\b", text)) <= variables, path
    alerts = re.findall(r"alert: (\w+)", (DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))
    advice = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/operations.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert advice == alerts


async def test_behind_the_proxy_of_a_compose_file_each_visitor_has_an_ip_address_of_their_own():
    seen: list[str] = []

    async def app(scope: Any, *_: Any) -> None:
        seen.append(scope["client"][0])

    for path in DEPLOY.glob("compose.*.yaml"):
        content = path.read_text(encoding="utf-8")
        (trusted,) = re.findall(r"FORWARDED_ALLOW_IPS:-([^}]+)}", content)
        assert 'ports: ["127.0.0.1:8000:8000"]' in content, path  # or others could send the header, too
        for peer, sent in (
            ("172.18.0.1", b"1.2.3.4, 203.0.113.7"),
            ("192.168.16.1", b"203.0.113.8"),
            ("8.8.8.8", b"::1"),
        ):
            scope: Any = {"type": "http", "client": (peer, 1234), "headers": [(b"x-forwarded-for", sent)]}
            middleware: Any = ProxyHeadersMiddleware(app, trusted)
            await middleware(scope, None, None)

    assert seen == ["203.0.113.7", "203.0.113.8", "8.8.8.8"] * 3


def test_the_image_copies_every_package():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] == "!"}

    packages = {"agent_api", "cli", "deploy", "mcp_server", "presentation", "storage", "tracking_api", "web"}
    files = {"asgi.py", "background.py", "configuration.py", "hatch_build.py", "pyproject.toml", "requirements.lock"}
    assert kept == packages | files | {"docs/*.md", "LICENSE", "README.md"}
    assert all(list(ROOT.glob(name)) for name in kept)


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
    command = [sys.executable, "-I", "-B", "-c", ENTRY.format(wheel=str(wheel)), "serve", "--port", "PORT"]
    with shops.running(command, "Serving on", cwd=tmp_path, log=tmp_path / "log") as (port, _):
        yield f"http://127.0.0.1:{port}"


def test_the_service_runs_from_the_wheel_and_says_of_which_commit(served: str, wheel: Path):
    with httpx.Client(base_url=served, timeout=60, follow_redirects=True) as client:
        assert {path: client.get(path).status_code for path in PATHS} == dict.fromkeys(PATHS, 200)
        version = client.get("/openapi.json").json()["info"]["version"]
        assert client.get("/healthz").headers["x-service-version"] == version
    file = wheel / COMMIT
    assert version.partition("+")[2] == (file.read_text().strip() if file.exists() else "")


def test_every_file_of_the_packages_is_in_the_wheel_and_nothing_else(wheel: Path):
    sources = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]

    inside = {path.relative_to(wheel).as_posix() for path in wheel.rglob("*") if path.is_file()}

    written = {path.relative_to(ROOT).as_posix() for path in sources if path.suffix != ".pyc"}
    documents = {f"presentation/guides/docs/{name}.md" for name in guides.DOCS}
    wanted = {*written, *documents, "asgi.py", "background.py", "configuration.py"}
    shared = {path.partition("/share/")[2] for path in inside if ".data/" in path}
    assert {path for path in inside if ".dist-info/" not in path and ".data/" not in path} - {COMMIT} == wanted
    assert shared == {f"affiliate-tracking-service/{relative(path)}" for path in FILES}
