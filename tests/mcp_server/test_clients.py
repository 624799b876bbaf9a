"""The official client drives every tool, prompt and resource against a live server, in both eras."""

import json
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from mcp_server.prompts import PLANS
from presentation import guides
from tests.mcp_server.conftest import CLIENTS, EVERY_TOOL, fill, written_out
from tests.serving import Serve

pytestmark = pytest.mark.anyio


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
        written_out(json.loads(text(result.content[0]))) == result.structured_content for result in results.values()
    )
    assert len(prompts) == len(PLANS)
    assert sorted(text(resource.contents[0]) for resource in resources) == sorted(map(guides.text, guides.NAMES))
    assert unknown.value.error.code == -32602
