"""Clients generated from /openapi.json: nothing is left out, and a shop's code can use them."""

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.documented import DOCUMENT
from tests.serving import Serve
from tests.world import World

HERE = Path(__file__).parent
CONFIG = "post_hooks: []\nproject_name_override: affiliate-tracking-service-client\n"


@pytest.fixture(scope="session")
def python_generator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The Python of an environment with openapi-python-client, which needs another version of Typer than ours."""
    place = tmp_path_factory.mktemp("generator") / "venv"
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "-q", str(place)], check=True)
    lock = ["--require-hashes", "-r", str(HERE / "requirements.lock")]
    subprocess.run([*uv, "pip", "install", "-q", "--python", str(place), *lock], check=True)
    yield place / "bin/python"
    shutil.rmtree(place)


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False)


async def test_a_generated_python_client_is_complete_and_works(
    acme: World, sqlite_url: str, serve: Serve, python_generator: Path, tmp_path: Path
):
    await acme.customer(at=datetime.now(UTC))
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "config.yaml").write_text(CONFIG)
    where = ["--path", "openapi.json", "--config", "config.yaml", "--output-path", "affiliate_tracking_service_client"]
    generate = ["-m", "openapi_python_client", "generate", "--fail-on-warning", "--meta", "none", *where]

    generated = await asyncio.to_thread(run, python_generator, *generate, folder=tmp_path)
    shutil.copy(HERE / "use.py.txt", tmp_path / "use.py")
    used = await asyncio.to_thread(
        run, python_generator, "use.py", serve(sqlite_url).base_url, acme.key, folder=tmp_path
    )

    assert generated.returncode == 0, generated.stdout + generated.stderr
    assert "WARNING" not in generated.stdout + generated.stderr
    assert used.returncode == 0, used.stderr


def test_generated_typescript_compiles_with_a_shop_s_code(tmp_path: Path):
    (tmp_path / "openapi.json").write_text(json.dumps(DOCUMENT))
    shutil.copy(HERE / "use.ts", tmp_path)
    node = ["node", str(HERE / "node_modules/openapi-typescript/bin/cli.js"), "openapi.json", "-o", "schema.d.ts"]
    subprocess.run(node, cwd=tmp_path, check=True, capture_output=True)
    compiler = HERE / "node_modules/typescript/bin/tsc"
    strictly = ["--noEmit", "--strict", "--module", "nodenext"]

    done = run("node", compiler, *strictly, "use.ts", "schema.d.ts", folder=tmp_path)

    assert done.returncode == 0, done.stdout
