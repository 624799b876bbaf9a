"""Search, sorting and totals of the list tools, and the dates of their figures."""

from typing import Any

import pytest

from tests.mcp_server.conftest import Assistant


@pytest.fixture
async def sold(assistant: Assistant) -> Assistant:
    """Acme with a sale of 100 dollars through Anna and ten of 20 dollars through Ben."""
    await assistant.acme.customer("user-1")
    await assistant.acme.sale("inv-1")
    await assistant.acme.customer("user-2", "ben")
    for number in range(2, 12):
        await assistant.acme.sale(f"inv-{number}", 2_000, customer_key="user-2")
    return assistant


async def test_a_list_is_searched_sorted_and_added_up(sold: Assistant):
    async def read(tool: str, **asked: Any) -> Any:
        return (await sold.tool(tool, **asked)).payload

    best = await read("list_partners", sort="revenue", totals=True)
    least = await read("list_customers", sort="revenue.up", totals=True)
    named = await read("list_commissions", q="anna", totals=True)
    events = await read("list_events", kind="sale", sort="amount", totals=True, limit=1)

    assert [(row["name"], row["revenue_cents"]) for row in best["data"]] == [("Ben", 20_000), ("Anna", 10_000)]
    assert (best["totals"]["rows"], best["totals"]["sums"]["revenue_cents"], best["currency"]) == (2, 30_000, "USD")
    assert [row["customer_key"] for row in least["data"]] == ["user-1", "user-2"]
    assert (least["totals"]["sums"]["sales"], least["currency"]) == (11, "USD")
    assert [row["partner_name"] for row in named["data"]] == ["Anna"]
    assert named["totals"]["sums"]["net_cents"] == 2_000
    assert (events["data"][0]["transaction_id"], events["totals"]["amounts"]) == ("inv-1", {"USD": 30_000})


async def test_the_partners_figures_are_of_the_dates(sold: Assistant):
    before = (await sold.tool("list_partners", date_from="2026-04-01", date_to="2026-04-30")).payload
    alone = (await sold.tool("list_partners", date_from="2026-05-01")).rejection

    assert [row["revenue_cents"] for row in before["data"]] == [0, 0]
    assert [each["field"] for each in alone["fields"]] == ["date_from"]
