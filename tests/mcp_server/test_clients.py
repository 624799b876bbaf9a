"""The official client, inspector and conformance suite against a live server, in each version of the protocol."""

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents
from starlette.types import ASGIApp, Receive, Send

from mcp_server.attachments import PLANS
from mcp_server.results import NOTE
from mcp_server.tools import ALL
from presentation import guides
from presentation.guides import Filling
from storage.rules.scope import Scope
from tests import serving
from tests.mcp_server.conftest import CLIENTS, EVERY_TOOL, fill
from tests.serving import Serve
from web.middleware import RequestMiddleware

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


def text(content: Any) -> str:
    assert isinstance(content, TextContent | TextResourceContents)
    return content.text


@pytest.mark.parametrize("mode", CLIENTS)
async def test_a_client_can_use_every_tool_resource_and_prompt(sqlite_url: str, serve: Serve, mode: str):
    key = await fill(sqlite_url)
    url = f"{serve(sqlite_url).base_url}/mcp"
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=20) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        (program,) = (await client.call_tool("list_programs")).structured_content["data"]
        about = {"program_id": program["id"]}
        results = {
            name: await client.call_tool(name, asked if name == "list_programs" else {**about, **asked})
            for name, asked in EVERY_TOOL.items()
        }
        prompts = [
            await client.get_prompt(name, {"program_id": str(program["id"])})
            for name in [prompt.name for prompt in (await client.list_prompts()).prompts]
        ]
        resources = [await client.read_resource(resource.uri) for resource in (await client.list_resources()).resources]
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("drop_tables", {})

    assert sorted(tools) == sorted(results)
    assert [name for name, result in results.items() if result.is_error] == []
    assert all(
        json.loads(text(result.content[0])).items() <= {**result.structured_content, "note": NOTE}.items()
        for result in results.values()
    )
    assert len(prompts) == len(PLANS)
    filled = [guides.filled(name, Filling(url.removesuffix("/mcp"), 1)) for name in guides.NAMES]
    assert sorted(text(resource.contents[0]) for resource in resources) == sorted(filled)
    assert "svc.example" not in "".join(filled)
    assert unknown.value.error.code == -32602


@pytest.fixture
def node() -> Path:
    """The Node of the package that brings it."""
    return min(MODULES.glob("node-*-*/bin/node"))


@pytest.fixture
def key(sqlite_url: str) -> str:
    """An agent key of Acme that may read everything."""
    return asyncio.run(fill(sqlite_url, [scope for scope in Scope if scope.endswith(":read")]))


def keyed(app: ASGIApp, key: str) -> ASGIApp:
    """Add a key to each request that has none, as those of the conformance suite."""
    inside, header = RequestMiddleware(app), (b"authorization", f"Bearer {key}".encode())

    async def with_key(scope: Any, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and header[0] not in dict(scope["headers"]):
            scope["headers"] = [*scope["headers"], header]
        await inside(scope, receive, send)

    return with_key


@pytest.fixture
def keyed_url(sqlite_url: str, key: str) -> Iterator[str]:
    """The address of a server that adds the key."""
    with serving.in_a_thread(sqlite_url, around=partial(keyed, key=key)) as served:
        yield f"{served.base_url}/mcp"


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


def test_the_inspector_lists_and_calls_a_tool(node: Path, sqlite_url: str, key: str, serve: Serve, tmp_path: Path):
    launcher = MODULES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
    command = [node, launcher, "--cli", f"{serve(sqlite_url).base_url}/mcp", "--transport", "http"]
    environment = os.environ | {"PATH": f"{node.parent}:{os.environ['PATH']}", "HOME": str(tmp_path)}

    def inspect(*arguments: str) -> Any:
        keyed = [*map(str, command), "--header", f"Authorization: Bearer {key}", *arguments]
        done = subprocess.run(
            keyed, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    listed = inspect("--method", "tools/list", "--strict")
    called = inspect("--method", "tools/call", "--tool-name", "get_program", "--tool-arg", "program_id=1")

    assert {tool["name"] for tool in listed["tools"]} == {tool.name for tool in ALL}
    assert called["structuredContent"]["program"]["name"] == "Acme partners"
