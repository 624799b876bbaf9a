"""Prompts and resources: what a client may attach, and completion of what a prompt asks for."""

from typing import Any

import pytest

from mcp_server.prompts import PLANS
from mcp_server.resources import ABOUT
from mcp_server.tools import ALL
from presentation import guides
from storage.rules.scope import Scope
from tests.mcp_server.conftest import HOSTILE, INERT, VERSIONS, Assistant

pytestmark = pytest.mark.anyio
REVIEW, WHY = "review-my-program", "why-was-this-sale-not-credited"


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_recurring_jobs_are_offered_to_every_key(assistant: Assistant, version: str):
    key = await assistant.issue([Scope.COMMISSIONS_READ])

    prompts = (await assistant.call("prompts/list", version=version, key=key)).result["prompts"]

    assert [prompt["title"] for prompt in prompts] == [
        "Review my program",
        "Why was this sale not credited?",
        "Weekly review",
        "Month close",
        "Integration doctor",
        "Fraud review",
        "Prepare for key rotation",
    ]


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
@pytest.mark.parametrize(
    "params",
    [{"name": "no such prompt"}, {"name": REVIEW}, {"name": REVIEW, "arguments": {"program_id": "1", "else": "x"}}],
)
async def test_unknown_prompts_and_arguments_are_invalid(assistant: Assistant, version: str, params: dict[str, Any]):
    assert (await assistant.call("prompts/get", params, version=version)).error["code"] == -32602


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


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_unknown_resource_is_invalid(assistant: Assistant, version: str):
    answer = await assistant.call("resources/read", {"uri": "file:///etc/passwd"}, version=version)

    assert answer.error["code"] == -32602
