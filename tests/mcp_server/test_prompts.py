"""Prompts, resources and guides: what a client may attach, and completion of what a prompt asks for."""

from typing import Any

import pytest

from mcp_server.prompts import PLANS
from mcp_server.resources import ABOUT
from mcp_server.tools import ALL
from presentation import guides
from storage.rules.scope import Scope
from tests.mcp_server.conftest import BASE, HOSTILE, INERT, VERSIONS, Assistant

pytestmark = pytest.mark.anyio
INVALID = -32602
REVIEW, WHY = "review-my-program", "why-was-this-sale-not-credited"


TITLES = [
    *("Review my program", "Why was this sale not credited?", "Weekly review", "Month close", "Integration doctor"),
    *("Fraud review", "Prepare for key rotation"),
]


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_recurring_jobs_are_offered_to_every_key_and_anything_else_is_invalid(
    assistant: Assistant, version: str
):
    key = await assistant.issue([Scope.COMMISSIONS_READ])

    prompts = (await assistant.call("prompts/list", version=version, key=key)).result["prompts"]

    assert [prompt["title"] for prompt in prompts] == TITLES
    for method, params in (
        ("prompts/get", {"name": "no such prompt"}),
        ("prompts/get", {"name": REVIEW}),
        ("prompts/get", {"name": REVIEW, "arguments": {"program_id": "1", "else": "x"}}),
        ("resources/read", {"uri": "file:///etc/passwd"}),
    ):
        assert (await assistant.call(method, params, version=version)).error["code"] == INVALID, params


def test_prompts_name_only_tools_that_exist():
    names = {tool.name for tool in ALL}
    said = {
        word.strip(".,") for plan in PLANS.values() for word in plan.text.split() if word.startswith(("get_", "list_"))
    }

    assert said <= names
    assert len(said) > 4


async def test_a_prompt_has_its_arguments_in_place_and_inert(assistant: Assistant):
    asked = {"program_id": "7", "transaction_id": HOSTILE}

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


async def test_every_guide_is_a_resource_with_the_text_of_the_docs(assistant: Assistant):
    listed = (await assistant.call("resources/list")).result["resources"]
    read = [(await assistant.call("resources/read", {"uri": each["uri"]})).result["contents"][0] for each in listed]

    assert [each["name"] for each in listed] == list(ABOUT)
    assert sorted(ABOUT) == sorted(guides.NAMES)
    assert [each["text"] for each in read] == [guides.text(name) for name in ABOUT]
    assert {each["mimeType"] for each in read} == {"text/markdown"}


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


async def test_the_guide_is_written_for_the_program_and_its_lines_that_verify_are_those_of_the_checklist(
    assistant: Assistant,
):
    payload = (await assistant.tool("get_integration_guide")).payload
    verify = (await assistant.tool("get_integration_guide", topic="verify")).payload["text"]

    assert f'"program_id": {assistant.acme.program_id}' in payload["text"]
    assert f"POST {BASE}/api/v1/track/sale" in payload["text"]
    assert payload["settings"]["lead_auth_policy"] == "server_required"
    assert (payload["part"], payload["parts"]) == (1, 1)
    assert f"curl -sS -m 10 {BASE}/api/v1/track/sale" in verify
    assert "?aff=ben" in verify
    assert "PARTNER_CODE" not in verify
