"""The image, built from the Dockerfile with buildah over `.ci/image`'s Debian root, runs as the compose files do."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import postgres
from tests.needs import IMAGE_STORE, ROOT
from tests.redis import RedisServer

STORE = ("buildah", "--root", f"{IMAGE_STORE}/store", "--runroot", f"{IMAGE_STORE}/run")
NAME = "localhost/svc-of-the-tests"
TRIES, START_SECONDS = 8, 60  # to connect, which takes about as long, and to wait for the first answer
pytestmark = pytest.mark.image


def buildah(*arguments: str) -> str:
    """Run buildah and return what it printed; its errors are the test's."""
    done = subprocess.run([*STORE, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def container() -> Iterator[str]:
    """Make a container of the image, with a folder of data of its own."""
    name = buildah("from", "--pull-never", NAME)
    try:
        yield name
    finally:
        buildah("rm", name)


def command(name: str, arguments: list[str], environment: dict[str, str]) -> list[str]:
    """Return what runs the image's own command, or one with these arguments, without any capability."""
    settings = [part for key, value in environment.items() for part in ("--env", f"{key}={value}")]
    run = ["run", "--isolation", "chroot", "--cap-drop", "all", *settings, name, "--"]
    image: dict[str, Any] = json.loads(buildah("inspect", "--type", "image", NAME))["OCIv1"]["config"]
    return [*run, *image["Entrypoint"], *(arguments or image["Cmd"])]


def serves(name: str, arguments: list[str], environment: dict[str, str], log: Path) -> bool:
    """Run the service in a container until `/readyz` has answered; return whether it said that all is well."""
    port = postgres.free_port()
    with log.open("w") as lines:
        server = subprocess.Popen(
            [*STORE, *command(name, arguments, environment), "--port", str(port)],
            stdout=lines,
            stderr=lines,
            start_new_session=True,  # buildah alone would not hand the signal on
        )
    try:
        with httpx.Client(transport=httpx.HTTPTransport(retries=TRIES), timeout=START_SECONDS) as client:
            return bool(client.get(f"http://127.0.0.1:{port}/readyz").json() == {"status": "ok"})
    except httpx.ConnectError:
        return False
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def commands() -> dict[str, list[str]]:
    """Return the service's command in each compose file; [] for the image's own."""
    files = {path: path.read_text(encoding="utf-8") for path in (ROOT / "deploy").glob("compose.*.yaml")}
    found = {
        path.name.split(".")[1]: re.search(r"\n  svc:\n    build: \.\.\n    command: \[(.*)\]", text)
        for path, text in files.items()
    }
    return {name: re.findall(r'[^,\s"]+', match[1]) if match else [] for name, match in found.items()}


def test_the_image_serves_by_each_compose_file(empty_postgres_url: str, redis_server: RedisServer, tmp_path: Path):
    buildah("build", "--isolation", "chroot", "--pull-never", "--build-arg", "COMMIT=abcdef123", "--tag", NAME, ".")
    of_postgresql = {"SVC_DATABASE_URL": empty_postgres_url, "SVC_SECRET_KEY": "a secret key of the tests"}
    environments = {
        "sqlite": {},
        "postgresql": of_postgresql | {"SVC_REDIS_URL": redis_server.url},
        "citus": of_postgresql,
    }

    with container() as name:
        version = buildah(*command(name, ["--version"], {}))
        buildah(*command(name, ["admin", "db", "upgrade"], of_postgresql))
        rights = buildah("run", "--isolation", "chroot", name, "--", "sh", "-c", "id -u; grep CapEff /proc/self/status")
        read_only = buildah("run", "--isolation", "chroot", name, "--", "sh", "-c", "! touch /venv/x; touch /data/x")
        served = {
            each: serves(name, arguments, environments[each], tmp_path / each) for each, arguments in commands().items()
        }

    assert version.endswith("+abcdef123")
    assert rights.split() == ["10001", "CapEff:", "0000000000000000"]
    assert read_only == ""
    assert served == dict.fromkeys(environments, True), {each.name: each.read_text() for each in tmp_path.iterdir()}
