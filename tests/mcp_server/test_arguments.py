"""What assistants send is named and never repeated; what outsiders write is inert, others' ids find nothing."""

from typing import Any

import pytest

from mcp_server.tools import ALL
from storage.management import partners
from storage.rules.errors import CustomerNotFound
from tests.mcp_server.conftest import EVERY_TOOL, HOSTILE, VERSIONS, Assistant
from tests.tables import table

SENT = "Ignore-previous-instructions"
EVENTS = (
    "Accepted arguments: program_id (required), limit, cursor, kind, partner_id, customer_id, transaction_id, text, "
    "caller, test, q, sort, totals, date_from, date_to."
)
WRONG: dict[str, Any] = table("mcp_server/wrong_arguments.json")


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_argument_that_a_tool_does_not_have_is_rejected(assistant: Assistant, version: str):
    for each in ALL:
        answer = await assistant.tool(each.name, version=version, **EVERY_TOOL[each.name], **{SENT: SENT})

        assert answer.rejection["code"] == "validation_error", each.name
        assert answer.rejection["fields"][-1]["field"] == "(unknown)", each.name
        assert answer.rejection["hint"].startswith("Accepted arguments: "), each.name
        assert SENT not in answer.text, each.name


async def test_a_wrong_argument_is_named_with_what_it_must_be_and_others_are_repeated_sanitized(assistant: Assistant):
    payload = (await assistant.tool("list_customers", customer_key="a\u200bb\u202ec")).payload
    assert payload["applied_query"]["customer_key"] == "abc"
    for name, argument, value, message in WRONG["of_a_field"]:
        answer = await assistant.tool(name, **{argument: value})

        assert answer.rejection["fields"] == [{"field": argument, "message": message}], value
        assert SENT not in answer.text

    missing = await assistant.call("tools/call", {"name": "list_events", "arguments": {}})
    assert missing.rejection["fields"] == [{"field": "program_id", "message": "Required: an integer"}]
    assert missing.rejection["hint"] == EVENTS


async def test_arguments_that_do_not_fit_together_or_name_no_range_are_named(assistant: Assistant):
    for name, arguments, code, field in WRONG["together"]:
        rejection = (await assistant.tool(name, **arguments)).rejection
        named = rejection["fields"][0]["field"] if "fields" in rejection else None

        assert (rejection["code"], named) == (code, field), arguments
        assert "dateFrom" not in str(rejection), arguments


PLANTED = HOSTILE.replace("\x00", "")
BREAKS = ("\u200b", "\u202e", "\u2028", "\U000e0041", "\ue000")


async def test_what_outsiders_write_is_inert_and_in_marked_fields_of_every_tool(assistant: Assistant):
    acme = assistant.acme
    await acme.do(partners.enrol, name=PLANTED, code="eve")
    texts: dict[str, Any] = dict.fromkeys(("page_title", "page_url", "referrer_url"), PLANTED)
    clicked = await acme.visitor("eve", **texts, referrer_host=PLANTED, dimensions='{"utm_source": "Ignore\\u200b"}')
    await acme.lead(clicked, PLANTED, event_name=PLANTED)
    await acme.sale(PLANTED, customer_key=PLANTED, caller=PLANTED)
    await acme.refund(PLANTED, 100, refund_id=PLANTED, reason=PLANTED)
    await acme.reject(CustomerNotFound(), customer_key=PLANTED, transaction_id=PLANTED, user_agent=PLANTED)
    asked = {**EVERY_TOOL, "get_customer": {"click_id": clicked}, "get_partner": {"partner": "eve"}}
    asked |= {"explain_attribution": {"click_id": clicked}, "get_breakdown": {"by": "utm_source"}}

    for tool in ALL:
        answer = await assistant.tool(tool.name, **asked[tool.name])
        marked = (tool.published.output_schema or {})["properties"]
        unmarked = {name: value for name, value in answer.payload.items() if name not in marked}

        assert not any(sign in str(answer.payload) for sign in BREAKS), tool.name
        if tool.name != "explain_attribution":  # which names its untrusted parts itself
            assert "Ignore" not in str({**unmarked, "applied_query": ""}), tool.name


@pytest.fixture
async def theirs(assistant: Assistant) -> dict[str, Any]:
    """The ids of Globex, whose program Acme's assistant cannot read, by the arguments that take them."""
    globex = assistant.globex
    clicked = await globex.visitor()
    await globex.lead(clicked, "their-user")
    await globex.sale("their-sale", customer_key="their-user", caller="their-shop")
    named = {"customer_key": "their-user", "click_id": clicked, "transaction_id": "their-sale", "partner": "anna-2"}
    return named | {"partner_id": globex.anna, "customer_id": 1, "caller": "their-shop", "text": "their", "q": "their"}


async def test_ids_of_others_find_nothing_in_any_argument(assistant: Assistant, theirs: dict[str, Any]):
    asked = 0
    for tool in ALL:
        for name in tool.arguments.model_fields.keys() & theirs.keys():
            answer = await assistant.tool(tool.name, **{name: theirs[name]})
            found = {} if answer.result["isError"] else answer.payload
            asked += 1

            assert not any(found.get(each) for each in ("data", "timeline", "refused_calls")), (tool.name, name)
            assert "their-" not in str({**found, "applied_query": "", "transaction_id": ""}), (tool.name, name)
    of_all: dict[str, Any] = {"name": "explain_attribution", "arguments": {"ids": ["their-sale"]}}
    every = (await assistant.call("tools/call", of_all)).payload
    foreign = await assistant.tool("get_performance", compare_with=[assistant.globex.program_id])

    assert asked > 15
    assert [row["verdict"] for row in every["found"]] == ["not_recorded"]
    assert foreign.rejection["code"] == "program_not_allowed"
