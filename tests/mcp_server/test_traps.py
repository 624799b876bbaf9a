"""Three traps: instructions in all that outsiders write, ids of others in all arguments, figures that look equal."""

from typing import Any

import pytest

from mcp_server.tools import ALL
from storage.management import partners
from storage.rules.click_details import ClickDetails
from storage.rules.errors import CustomerNotFound
from tests.mcp_server import two_months
from tests.mcp_server.conftest import EVERY_TOOL, HOSTILE, Assistant
from tests.world import NOW

PLANTED = HOSTILE.replace("\x00", "")
BREAKS = ("\u200b", "\u202e", "\u2028", "\U000e0041", "\ue000")


async def test_what_outsiders_write_is_inert_and_in_marked_fields_of_every_tool(assistant: Assistant):
    acme = assistant.acme
    await acme.store.write(partners.enrol, acme.program_id, name=PLANTED, code="eve", at=NOW)
    texts: dict[str, Any] = dict.fromkeys(("page_title", "page_url", "referrer_url"), PLANTED)
    clicked = await acme.visitor(
        "eve", **texts, details=ClickDetails(PLANTED, dimensions='{"utm_source": "Ignore\\u200b"}')
    )
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
    await globex.sale("their-sale", customer_key="their-user", caller="their-shop 1")
    named = {"customer_key": "their-user", "click_id": clicked, "transaction_id": "their-sale", "partner": "anna-2"}
    return named | {
        "partner_id": globex.anna,
        "customer_id": 1,
        "caller": "their-shop 1",
        "text": "their",
        "q": "their",
    }


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


async def test_figures_that_only_look_equal_are_told_apart(assistant: Assistant):
    await two_months.spend(assistant)
    sales = (await assistant.tool("list_events", kind="sale", totals=True)).payload
    tests = (await assistant.tool("list_events", test=True)).payload
    report = (await assistant.tool("get_performance", period="this_quarter")).payload["totals"]
    [anna] = (await assistant.tool("list_partners", q="anna")).payload["data"]

    assert tests["data"] == []
    assert report["revenue_cents"] < sum(
        sale["amount_cents"] for sale in sales["data"]
    )  # refunds, and what was imported
    assert anna["balance"]["flagged_cents"] > 0
    assert anna["balance"]["to_pay_cents"] == 0  # what is approved is held
