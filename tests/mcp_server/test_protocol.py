"""The protocol in each version: plain tool calls are answered as the SDK does; prompts, resources and guides."""

import json
from typing import Any

import pytest

from mcp_server.attachments import PROMPTS
from mcp_server.calls import SCOPE_MEMBER, Caller, ToolCalls
from mcp_server.tools import ALL
from presentation import guides
from storage.engine.sealing import Sealer
from storage.rules.scope import Scope
from tests.mcp_server.conftest import HANDSHAKE, HOSTILE, INERT, VERSIONS, Assistant
from tests.tables import table

REQUESTS: dict[str, Any] = table("mcp_server/requests.json")
HEADERS = {"host": "svc.test", "accept": "application/json", "mcp-protocol-version": HANDSHAKE}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_programs"}}
REVIEW, WHY = "review-my-program", "why-was-this-sale-not-credited"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_response_is_the_same_as_the_sdks_transport_gives_and_no_stream_stays_open(
    assistant: Assistant, version: str
):
    listening = await assistant.call("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    assert (listening.http.status_code, listening.error["code"]) == (404, -32601)
    named = {"Origin": "http://localhost:6274"}  # a request that names one is left to the SDK
    for method, params in REQUESTS["methods"]:
        ours = (await assistant.call(method, params, version=version)).http
        theirs = (await assistant.call(method, params, version=version, headers=named)).http

        assert ours.json() == theirs.json(), (method, params)
        assert ours.status_code == theirs.status_code, (method, params)
        assert ours.headers["content-type"] == theirs.headers["content-type"], (method, params)


async def handshake(assistant: Assistant, headers: list[tuple[str, str]], body: Any) -> Any:
    """Return what a request of the handshake era is answered with, None if it is left to the SDK."""
    caller = Caller(assistant.acme.store.reader, assistant.good, assistant.at, "request-1", resource="")
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    calls = ToolCalls(
        {tool.name: tool for tool in ALL}, "http://svc.test", hosts=["svc.test"], sealer=Sealer("a secret")
    )
    response = await calls.respond({"headers": raw, SCOPE_MEMBER: caller}, json.dumps(body).encode())
    return response and response.body


async def test_a_plain_tool_call_does_not_reach_the_sdk_and_any_other_does(assistant: Assistant):
    plain = list(HEADERS.items())

    answered = await handshake(assistant, plain, CALL)

    assert answered["result"]["structuredContent"]["data"]
    assert await handshake(assistant, plain[:2], CALL) == answered  # which names no version
    for name, value in REQUESTS["headers_to_check"].items():
        others = [each for each in plain if each[0] != name.lower()]
        assert await handshake(assistant, [*others, (name, value)], CALL) is None, (name, value)
    assert await handshake(assistant, [("host", "evil.example"), *plain], CALL) is None  # sent twice
    for body in REQUESTS["not_plain"]:
        assert await handshake(assistant, plain, body) is None, body


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_recurring_jobs_are_offered_to_every_key_and_anything_else_is_invalid(
    assistant: Assistant, version: str
):
    key = await assistant.issue([Scope.COMMISSIONS_READ])

    prompts = (await assistant.call("prompts/list", version=version, key=key)).result["prompts"]

    assert [prompt["name"] for prompt in prompts] == [prompt.name for prompt, _ in PROMPTS]
    for method, params in (
        ("prompts/get", {"name": "no such prompt"}),
        ("prompts/get", {"name": REVIEW}),
        ("prompts/get", {"name": REVIEW, "arguments": {"program_id": "1", "else": "x"}}),
        ("resources/read", {"uri": "file:///etc/passwd"}),
    ):
        assert (await assistant.call(method, params, version=version)).error["code"] == -32602, params


def test_prompts_name_only_tools_that_exist():
    names = {tool.name for tool in ALL}
    said = {word.strip(".,") for _, text in PROMPTS for word in text.split() if word.startswith(("get_", "list_"))}

    assert said <= names
    assert len(said) > 4


async def test_a_prompt_has_its_arguments_in_place_and_inert(assistant: Assistant):
    asked = {"program_id": "7", "transaction_id": HOSTILE.replace("\x00", "")}

    result = (await assistant.call("prompts/get", {"name": WHY, "arguments": asked})).result

    (message,) = result["messages"]
    assert message["role"] == "user"
    assert f"transaction_id '{INERT}' of affiliate program 7" in message["content"]["text"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_program_id_is_completed_with_the_ids_that_the_key_reaches(assistant: Assistant, version: str):
    program_id = str(assistant.acme.program_id)

    async def completed(name: str, value: str) -> Any:
        params = {"ref": {"type": "ref/prompt", "name": REVIEW}, "argument": {"name": name, "value": value}}
        return (await assistant.call("completion/complete", params, version=version)).result["completion"]["values"]

    assert await completed("program_id", "") == [program_id]
    assert await completed("program_id", f"{program_id}0") == []
    assert await completed("transaction_id", "") == []


async def test_every_guide_is_given_whole_in_its_parts(assistant: Assistant):
    for topic in guides.NAMES:
        first = (await assistant.tool("get_integration_guide", topic=topic)).payload
        rest = [
            (await assistant.tool("get_integration_guide", topic=topic, part=part)).payload["text"]
            for part in range(2, first["parts"] + 1)
        ]

        whole = "".join([first["text"], *rest])
        assert whole.count("\n## ") == guides.text(topic).count("\n## "), topic
        assert whole.splitlines()[-1] == guides.text(topic).splitlines()[-1], topic
