"""The official inspector and the official conformance suite against the real service, over HTTP."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from mcp_server.tools import BY_NAME
from storage.rules.scope import Scope
from tests import postgres
from tests.conftest import ROOT
from tests.mcp_server.conftest import fill
from tests.serving import Serve

HERE = Path(__file__).parent
MODULES = HERE / "node" / "node_modules"
PASSING = {
    "2025-11-25": {"server-initialize", "ping", "completion-complete", "tools-list", "resources-list", "prompts-list"},
    "2026-07-28": {
        *("completion-complete", "tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found"),
        *("caching", "http-header-validation", "server-sse-multiple-streams", "dns-rebinding-protection"),
        *("input-required-result-unsupported-methods", "input-required-result-ignore-extra-params"),
    },
}


@pytest.fixture
def node() -> Path:
    """The Node of the package that brings it."""
    return min(MODULES.glob("node-*-*/bin/node"))


@pytest.fixture
def key(sqlite_url: str) -> str:
    """An agent key of Acme that may read everything."""
    return asyncio.run(fill(sqlite_url, [scope for scope in Scope if scope.endswith(":read")]))


@pytest.fixture
def keyed_url(sqlite_url: str, key: str) -> Iterator[str]:
    """The address of a real server behind the shim that adds the key."""
    port = postgres.free_port()
    settings = {"SVC_DATABASE_URL": sqlite_url, "SVC_RATE_LIMIT": "off", "SVC_TEST_KEY": key}
    app = ("tests.mcp_server.keyed:app", "--port", str(port), "--log-level", "error")
    command = [sys.executable, "-m", "uvicorn", *app]
    with subprocess.Popen(command, cwd=ROOT, env=os.environ | settings) as process:
        url = f"http://localhost:{port}"
        transport = httpx.HTTPTransport(retries=8)  # waits longer each time: until the port is open
        with httpx.Client(transport=transport) as client:
            assert client.get(f"{url}/readyz").status_code == 200
        yield f"{url}/mcp"
        process.terminate()


@pytest.mark.parametrize("version", PASSING)
def test_the_conformance_suite_finds_nothing_that_is_not_explained(
    node: Path, keyed_url: str, version: str, tmp_path: Path
):
    suite = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    command = [node, suite, "server", "--url", keyed_url, "--suite", "all", "--spec-version", version]

    done = subprocess.run(
        [*map(str, command), "--expected-failures", str(HERE / f"conformance-{version}.yaml")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )

    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)
    passed = set(re.findall(r"^✓ ([\w-]+): [1-9]\d* passed, 0 failed", said, re.MULTILINE))
    assert done.returncode == 0, said[said.rfind("Unexpected") :] + done.stderr[-1000:]
    assert PASSING[version] - passed == set()


def test_every_exclusion_names_its_reason():
    lines = [
        line
        for version in PASSING
        for line in (HERE / f"conformance-{version}.yaml").read_text(encoding="utf-8").splitlines()
        if line.startswith("  - ")
    ]

    assert [line for line in lines if not re.search(r" # \w.{20,}", line)] == []


def test_the_inspector_lists_and_calls_a_tool(node: Path, sqlite_url: str, key: str, serve: Serve, tmp_path: Path):
    server = serve(sqlite_url)
    launcher = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    command = [node, launcher, "--cli", f"{server.base_url}/mcp", "--transport", "http"]
    environment = os.environ | {"PATH": f"{node.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def inspect(*arguments: str) -> str:
        keyed = [*map(str, command), "--header", f"Authorization: Bearer {key}", *arguments]
        done = subprocess.run(
            keyed, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = json.loads(inspect("--method", "tools/list", "--strict"))
    called = json.loads(inspect("--method", "tools/call", "--tool-name", "get_program", "--tool-arg", "program_id=1"))

    assert {tool["name"] for tool in listed["tools"]} == set(BY_NAME)
    assert called["structuredContent"]["program"]["name"] == "Acme partners"
