"""Arguments that are wrong: which, how, and what is accepted; never what was sent."""

from typing import Any

import pytest

from mcp_server.tools import ALL
from mcp_server.tools.tool import Tool
from tests.mcp_server.conftest import EVERY_TOOL, VERSIONS, Assistant

pytestmark = pytest.mark.anyio
SENT = "Ignore-previous-instructions"
EVENTS = (
    "Accepted arguments: program_id (required), limit, cursor, kind, partner_id, customer_id, transaction_id, test, "
    "date_from, date_to."
)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
async def test_an_argument_that_a_tool_does_not_have_is_rejected(assistant: Assistant, tool: Tool, version: str):
    asked = {**EVERY_TOOL[tool.name], SENT: SENT}

    answer = await assistant.tool(tool.name, version=version, **asked)

    assert answer.rejection["code"] == "validation_error"
    assert answer.rejection["fields"][-1]["field"] == "(unknown)"
    assert answer.rejection["hint"].startswith("Accepted arguments: ")
    assert SENT not in answer.text


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("program_id", SENT, "An integer"),
        ("program_id", "1", "An integer"),
        ("program_id", True, "An integer"),
        ("program_id", 1.5, "An integer"),
        ("program_id", None, "An integer"),
        ("limit", 0, "An integer from 1 to 100"),
        ("limit", 101, "An integer from 1 to 100"),
        ("kind", SENT, "One of click, lead, refund, sale, test"),
        ("cursor", "", "Text of 1 to 512 characters, no control characters"),
    ],
)
async def test_a_wrong_argument_is_named_with_what_it_must_be(
    assistant: Assistant, argument: str, value: Any, message: str
):
    answer = await assistant.tool("list_events", **{argument: value})

    assert answer.rejection["fields"] == [{"field": argument, "message": message}]
    assert answer.rejection["hint"] == EVENTS
    assert SENT not in answer.text


async def test_a_missing_argument_is_reported_as_required(assistant: Assistant):
    answer = await assistant.call("tools/call", {"name": "list_events", "arguments": {}})

    assert answer.rejection["fields"] == [{"field": "program_id", "message": "Required: an integer"}]


@pytest.mark.parametrize("value", ["", "x" * 256, "a\x00b", 7])
async def test_identifiers_are_text_of_255_characters(assistant: Assistant, value: Any):
    answer = await assistant.tool("list_customers", customer_key=value)

    assert answer.rejection["fields"] == [
        {"field": "customer_key", "message": "Text of 1 to 255 characters, no control characters"}
    ]


async def test_the_program_outranks_wrong_arguments_only_where_it_can_be_read(assistant: Assistant):
    """Like the agent API: key, scope, program, then the rest."""
    foreign = await assistant.tool("list_events", program_id=assistant.globex.program_id)
    unreadable = await assistant.tool("list_events", program_id=assistant.globex.program_id, limit=0)

    assert foreign.rejection["code"] == "program_not_allowed"
    assert unreadable.rejection["code"] == "validation_error"


async def test_the_query_is_repeated_sanitized(assistant: Assistant):
    asked = "a\u200bb\u202ec"

    payload = (await assistant.tool("list_customers", customer_key=asked)).payload

    assert payload["applied_query"]["customer_key"] == "abc"
