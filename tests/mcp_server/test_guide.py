"""get_integration_guide: every guide whole, with the program's own values in it."""

import pytest

from presentation import guides
from tests.mcp_server.conftest import BASE, Assistant

pytestmark = pytest.mark.anyio


async def test_the_guide_is_written_for_the_program(assistant: Assistant):
    payload = (await assistant.tool("get_integration_guide")).payload

    assert f'"program_id": {assistant.acme.program_id}' in payload["text"]
    assert f"POST {BASE}/api/v1/track/sale" in payload["text"]
    assert payload["settings"]["lead_auth_policy"] == "server_required"
    assert (payload["part"], payload["parts"]) == (1, 1)


@pytest.mark.parametrize("topic", guides.NAMES)
async def test_every_guide_is_given_whole_in_its_parts(assistant: Assistant, topic: str):
    first = (await assistant.tool("get_integration_guide", topic=topic)).payload
    rest = [
        (await assistant.tool("get_integration_guide", topic=topic, part=part)).payload["text"]
        for part in range(2, first["parts"] + 1)
    ]

    whole = "".join([first["text"], *rest])
    assert whole.count("\n## ") == guides.text(topic).count("\n## ")
    assert whole.splitlines()[-1] == guides.text(topic).splitlines()[-1]


async def test_the_lines_that_verify_are_those_of_the_checklist(assistant: Assistant):
    text = (await assistant.tool("get_integration_guide", topic="verify")).payload["text"]

    assert f"curl -sS -m 10 {BASE}/api/v1/track/sale" in text
    assert "?aff=ben" in text
    assert "PARTNER_CODE" not in text
