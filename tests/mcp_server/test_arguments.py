"""Arguments: those of a tool are its function's; a wrong one is named with what it must be, never with its value."""

from typing import Any

import pytest

from mcp_server.tools import ALL
from tests.mcp_server.conftest import EVERY_TOOL, VERSIONS, Assistant

SENT = "Ignore-previous-instructions"
EVENTS = (
    "Accepted arguments: program_id (required), limit, cursor, kind, partner_id, customer_id, transaction_id, text, "
    "caller, test, q, sort, totals, date_from, date_to."
)
A_KEY = "Text of 1 to 255 characters, no control characters"
WRONG: list[tuple[str, str, Any, str]] = [
    *(("list_events", "program_id", value, "An integer") for value in (SENT, "1", True, 1.5, None)),
    *(("list_events", "limit", value, "An integer from 1 to 100") for value in (0, 101)),
    ("list_events", "kind", SENT, "One of click, lead, refund, sale, test"),
    ("list_events", "cursor", "", "Text of 1 to 512 characters, no control characters"),
    ("list_events", "cursor", "Zm9yZ2Vk", "Not a cursor of this list: start again without one"),
    *(("list_customers", "customer_key", value, A_KEY) for value in ("", "x" * 256, "a\x01b", 7)),
]


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_argument_that_a_tool_does_not_have_is_rejected(assistant: Assistant, version: str):
    for each in ALL:
        answer = await assistant.tool(each.name, version=version, **EVERY_TOOL[each.name], **{SENT: SENT})

        assert answer.rejection["code"] == "validation_error", each.name
        assert answer.rejection["fields"][-1]["field"] == "(unknown)", each.name
        assert answer.rejection["hint"].startswith("Accepted arguments: "), each.name
        assert SENT not in answer.text, each.name


async def test_a_wrong_argument_is_named_with_what_it_must_be(assistant: Assistant):
    for name, argument, value, message in WRONG:
        answer = await assistant.tool(name, **{argument: value})

        assert answer.rejection["fields"] == [{"field": argument, "message": message}], value
        assert SENT not in answer.text

    missing = await assistant.call("tools/call", {"name": "list_events", "arguments": {}})
    assert missing.rejection["fields"] == [{"field": "program_id", "message": "Required: an integer"}]
    assert missing.rejection["hint"] == EVENTS


async def test_the_program_outranks_wrong_arguments_only_where_it_can_be_read(assistant: Assistant):
    """Like the agent API: key, scope, program, then the rest."""
    foreign = await assistant.tool("list_events", program_id=assistant.globex.program_id)
    unreadable = await assistant.tool("list_events", program_id=assistant.globex.program_id, limit=0)

    assert foreign.rejection["code"] == "program_not_allowed"
    assert unreadable.rejection["code"] == "validation_error"


async def test_the_query_is_repeated_sanitized(assistant: Assistant):
    payload = (await assistant.tool("list_customers", customer_key="a\u200bb\u202ec")).payload

    assert payload["applied_query"]["customer_key"] == "abc"
