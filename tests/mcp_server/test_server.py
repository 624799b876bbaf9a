"""What the server says of itself, and which tools a key sees and may call."""

from typing import Any

import pytest

from mcp_server.tools import ALL
from mcp_server.tools.tool import Tool
from storage.rules.scope import Scope
from tests.mcp_server.conftest import EVERY_TOOL, MODERN, VERSIONS, Answer, Assistant

pytestmark = pytest.mark.anyio
READ = Scope.PROGRAMS_READ
CONTRACT = {
    "list_programs": READ,
    "get_program": READ,
    "get_readiness": READ,
    "check_identifier_health": READ,
    "get_integration_guide": READ,
    "get_breakdown": Scope.PERFORMANCE_READ,
    "get_performance": Scope.PERFORMANCE_READ,
    "list_partners": Scope.PARTNERS_READ,
    "list_events": Scope.EVENTS_READ,
    "list_refused_calls": Scope.EVENTS_READ,
    "explain_attribution": Scope.EVENTS_READ,
    "list_customers": Scope.CUSTOMERS_READ,
    "list_commissions": Scope.COMMISSIONS_READ,
    "list_flags": Scope.COMMISSIONS_READ,
    "get_customer": Scope.CUSTOMERS_READ,
    "get_partner": Scope.PARTNERS_READ,
    "list_changes": READ,
    "list_payment_events": Scope.EVENTS_READ,
}
INVALID_PARAMS = -32602


def test_the_tools_and_their_scopes_are_the_contracts():
    assert {tool.name: tool.scope for tool in ALL} == CONTRACT
    assert set(EVERY_TOOL) == set(CONTRACT)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("scope", list(Scope))
async def test_a_key_sees_only_the_tools_of_its_scopes(assistant: Assistant, scope: Scope, version: str):
    key = await assistant.issue([scope])

    listed = (await assistant.call("tools/list", version=version, key=key)).result["tools"]

    assert [tool["name"] for tool in listed] == [tool.name for tool in ALL if CONTRACT[tool.name] == scope]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
async def test_a_hidden_tool_is_rejected_like_one_that_does_not_exist(assistant: Assistant, tool: Tool, version: str):
    key = await assistant.issue([scope for scope in Scope if scope != tool.scope])

    hidden = await assistant.tool(tool.name, version=version, key=key, **EVERY_TOOL[tool.name])
    unknown = await assistant.tool("no_such_tool", version=version, key=key)

    assert hidden.error["code"] == INVALID_PARAMS
    assert hidden.error == unknown.error
    assert hidden.http.status_code == unknown.http.status_code == (400 if version == MODERN else 200)


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
async def test_the_one_scope_is_enough(assistant: Assistant, click_id: str, tool: Tool):
    key = await assistant.issue([tool.scope])
    asked = {name: value for name, value in EVERY_TOOL[tool.name].items() if name != "top_partners"}

    assert click_id
    assert (await assistant.tool(tool.name, key=key, **asked)).payload["as_of"] == "2026-05-20T13:00:00Z"


@pytest.mark.parametrize("tool", [tool for tool in ALL if tool.name != "list_programs"], ids=lambda tool: tool.name)
async def test_foreign_missing_and_unlisted_programs_get_the_same_error(assistant: Assistant, tool: Tool):
    foreign, asked = assistant.globex.program_id, EVERY_TOOL[tool.name]
    narrowed = await assistant.issue(program_ids=[assistant.acme.program_id])
    calls: list[dict[str, Any]] = [
        *({"program_id": program_id} for program_id in (foreign, 999_999, 0, -1, 10**30)),
        {"program_id": foreign, "key": narrowed},
        {"key": await assistant.issue(workspace_id=assistant.globex.workspace_id)},
    ]

    rejections = [(await assistant.tool(tool.name, **asked, **call)).rejection for call in calls]

    assert rejections[0]["code"] == "program_not_allowed"
    assert "list_programs" in rejections[0]["hint"]
    assert all(rejection == rejections[0] for rejection in rejections)


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_tool_is_described_for_a_model_that_has_never_seen_the_product(assistant: Assistant, version: str):
    tools = (await assistant.call("tools/list", version=version)).result["tools"]

    for tool in tools:
        assert tool["annotations"] == {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": False,
        }
        assert tool["title"]
        assert 60 < len(tool["description"]) < 500
        assert tool["inputSchema"]["additionalProperties"] is False
        assert {"as_of", "applied_query"} <= set(tool["outputSchema"]["required"])
        assert tool["outputSchema"]["type"] == "object"


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_list_of_tools_is_small_and_always_the_same(assistant: Assistant, version: str):
    first, second = [await assistant.call("tools/list", version=version) for _ in range(2)]

    assert first.http.content == second.http.content
    assert len(first.http.content) < 16 * 1024  # the limit that was set for the eighteen tools of the contract


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
    assert len(opened["instructions"]) < 2_500
    assert opened["serverInfo"]["name"] == "affiliate-tracking"
    assert all(
        word in opened["instructions"] for word in ("list_programs", "_cents", "next_cursor", "untrusted", "never")
    )


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("params", [{}, {"name": 1}, {"name": "get_program", "arguments": []}])
async def test_malformed_parameters_are_invalid(assistant: Assistant, version: str, params: dict[str, Any]):
    answer = await assistant.call("tools/call", params, version=version)

    assert answer.http.json().get("error", {}).get("code") in {INVALID_PARAMS, -32020}


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_internal_error_does_not_reveal_its_cause(
    assistant: Assistant, version: str, caplog: pytest.LogCaptureFixture
):
    await assistant.acme.store.write(lambda connection: connection.exec_driver_sql("DROP TABLE refused_calls"))

    answer = await assistant.tool("list_refused_calls", version=version)

    assert answer.rejection["code"] == "internal_error"
    assert "refused_calls" not in answer.text
    assert answer.http.headers["x-request-id"] in caplog.text


async def test_both_eras_return_the_same_result_of_a_tool(assistant: Assistant):
    answers: list[Answer] = [await assistant.tool("get_program", version=version) for version in VERSIONS]

    assert all(answer.payload == answers[0].payload for answer in answers)
    assert answers[0].result["resultType"] == "complete"
    assert answers[0].result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "affiliate-tracking"
