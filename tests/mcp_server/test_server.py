"""What the server says of itself, and which tools a key sees and may call."""

from typing import Any

import pytest
from jsonschema_rs import validator_for

from mcp_server.tools import ALL
from storage.rules.scope import Scope
from tests.mcp_server.conftest import EVERY_TOOL, MODERN, VERSIONS, Assistant
from tests.tables import table

WRITTEN = table("security/contract.toml")
CONTRACT: dict[str, str] = {name: scope for scope, names in WRITTEN["tools"].items() for name in names}
NAMES = [tool.name for tool in ALL]


def test_the_tools_and_their_scopes_are_the_contracts():
    assert {tool.name: tool.scope for tool in ALL} == CONTRACT


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_key_sees_only_the_tools_of_its_scopes(assistant: Assistant, version: str):
    for scope in Scope:
        key = await assistant.issue([scope])

        listed = (await assistant.call("tools/list", version=version, key=key)).result["tools"]

        assert [tool["name"] for tool in listed] == [name for name in NAMES if CONTRACT[name] == scope], scope


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_hidden_tool_is_rejected_like_one_that_does_not_exist(assistant: Assistant, version: str):
    for tool in ALL:
        key = await assistant.issue([scope for scope in Scope if scope != tool.scope])

        hidden = await assistant.tool(tool.name, version=version, key=key, **EVERY_TOOL[tool.name])
        unknown = await assistant.tool("no_such_tool", version=version, key=key)

        assert hidden.error["code"] == -32602, tool.name
        assert hidden.error == unknown.error, tool.name
        assert hidden.http.status_code == unknown.http.status_code == (400 if version == MODERN else 200), tool.name


@pytest.mark.usefixtures("click_id")
async def test_the_one_scope_is_enough_and_every_result_fits_its_published_schema(assistant: Assistant):
    for tool in ALL:
        key = await assistant.issue([tool.scope])
        asked = {name: value for name, value in EVERY_TOOL[tool.name].items() if name != "top_partners"}

        alone = (await assistant.tool(tool.name, key=key, **asked)).payload
        payload = (await assistant.tool(tool.name, **EVERY_TOOL[tool.name])).payload

        validator_for(tool.published.output_schema or {}).validate(payload)
        assert alone["as_of"] == payload["as_of"] == "2026-05-20T13:00:00Z", tool.name
        assert EVERY_TOOL[tool.name].items() <= payload["applied_query"].items(), tool.name


async def test_foreign_missing_and_unlisted_programs_get_the_same_error(assistant: Assistant):
    foreign = assistant.globex.program_id
    narrowed = await assistant.issue(program_ids=[assistant.acme.program_id])
    calls: list[dict[str, Any]] = [
        *({"program_id": program_id} for program_id in (foreign, 999_999, 0, -1, 10**30)),
        {"program_id": foreign, "key": narrowed},
        {"key": await assistant.issue(workspace_id=assistant.globex.workspace_id)},
    ]
    for tool in ALL:
        if tool.name != "list_programs":
            asked = EVERY_TOOL[tool.name]

            rejections = [(await assistant.tool(tool.name, **asked, **call)).rejection for call in calls]

            assert rejections[0]["code"] == "program_not_allowed", tool.name
            assert "list_programs" in rejections[0]["hint"], tool.name
            assert all(rejection == rejections[0] for rejection in rejections), tool.name


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_list_of_tools_is_small_always_the_same_and_for_a_model_that_has_never_seen_the_product(
    assistant: Assistant, version: str
):
    first, second = [await assistant.call("tools/list", version=version) for _ in range(2)]

    assert first.http.content == second.http.content
    assert len(first.http.content) < 18 * 1024  # search, sorting and totals included
    descriptions = {tool["name"]: tool["description"] for tool in first.result["tools"]}
    assert all("`untrusted`" in descriptions[name] for name in ("get_breakdown", "explain_attribution"))
    for tool in first.result["tools"]:
        assert tool["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
        assert tool["title"]
        assert 60 < len(tool["description"]) < 500
        assert tool["inputSchema"]["additionalProperties"] is False
        assert "as_of" in tool["outputSchema"]["properties"]
        assert tool["outputSchema"]["type"] == "object"


async def test_lists_may_be_cached_privately_for_five_minutes(assistant: Assistant):
    asked: list[tuple[str, dict[str, Any]]]
    asked = [("tools/list", {}), ("prompts/list", {}), ("resources/list", {}), ("resources/templates/list", {})]
    asked += [("resources/read", {"uri": "guide://errors"}), ("server/discover", {})]

    results = [(await assistant.call(method, params)).result for method, params in asked]

    assert [(result["ttlMs"], result["cacheScope"]) for result in results] == [(300_000, "private")] * 6


async def test_the_instructions_are_sent_at_the_start_in_either_era(assistant: Assistant):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}

    opened = (await assistant.call("initialize", hello, version="2025-06-18")).result
    discovered = (await assistant.call("server/discover")).result

    assert opened["protocolVersion"] == "2025-06-18"
    assert discovered["supportedVersions"] == [MODERN]
    assert opened["instructions"] == discovered["instructions"]
    assert len(opened["instructions"]) < 2_000
    assert opened["serverInfo"]["name"] == "affiliate-tracking"


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_internal_error_does_not_reveal_its_cause(
    assistant: Assistant, version: str, caplog: pytest.LogCaptureFixture
):
    await assistant.acme.store.write(lambda connection: connection.exec_driver_sql("DROP TABLE refused_calls"))

    answer = await assistant.tool("list_refused_calls", version=version)

    assert answer.rejection["code"] == "internal_error"
    assert "refused_calls" not in answer.text
    assert answer.http.headers["x-request-id"] in caplog.text
