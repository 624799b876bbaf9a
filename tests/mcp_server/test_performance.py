"""get_performance, get_breakdown and list_programs with a period: totals, trends, rows, partners and tables."""

import json
from datetime import timedelta
from typing import Any

import pytest

from storage.rules.click_details import ClickDetails
from storage.rules.scope import Scope
from tests.mcp_server.conftest import Assistant
from tests.world import NOW

# Rows asked for, of how many days; how they are grouped, and how many there are at most or one less or more.
ROWS = [("day", 53, "day", 53), ("day", 54, "week", 9), ("day", 400, "month", 15), ("week", 1_830, "month", 61)]
WRONG_BREAKDOWNS = [
    ({"by": "os,moon"}, "second"),
    ({"by": "os,hour,country"}, "by"),
    ({"by": "os", "filters": "DE"}, "filters"),
    ({"by": "os", "filters": "utm_source=%00"}, "filters"),
    ({"by": "os", "filters": "moon=full"}, "filter"),
]


async def visit(assistant: Assistant, **carried: str) -> None:
    await assistant.acme.visitor(details=ClickDetails(dimensions=json.dumps(carried)))


@pytest.mark.usefixtures("click_id")
async def test_rows_that_would_be_too_many_become_coarser(assistant: Assistant):
    for asked, days, applied, rows in ROWS:
        dates = {"date_from": str((NOW - timedelta(days=days - 1)).date()), "date_to": str(NOW.date())}

        payload = (await assistant.tool("get_performance", breakdown=asked, **dates)).payload

        assert payload["applied_query"]["breakdown"] == applied, days
        assert "period" not in payload["applied_query"]
        assert abs(len(payload["rows"]) - rows) <= 1, days
        for total in ("clicks", "leads", "revenue_cents", "commission_cents"):
            assert sum(row[total] for row in payload["rows"]) == payload["totals"][total], days


@pytest.mark.usefixtures("click_id")
async def test_programs_are_compared_by_calendar_month(assistant: Assistant):
    acme = assistant.acme
    terms = {"name": "Second", "lead_commission_cents": 150}
    second = await acme.beside(**terms)
    await second.customer()

    compared = (await assistant.tool("list_programs", period="this_month")).payload
    report = (await assistant.tool("get_performance", period="this_month", compare_with=[second.program_id])).payload
    split = (await assistant.tool("get_performance", program_id=second.program_id)).payload["commission_by_cause"]

    assert compared["window"] == report["window"] == {"first": "2026-05-01", "last": "2026-05-31"}
    assert compared["previous_window"] == {"first": "2026-04-01", "last": "2026-04-30"}
    other, own = compared["data"]
    assert (own["totals"], own["previous_totals"]) == (report["totals"], report["previous_totals"])
    assert (own["totals"]["revenue_cents"], own["totals"]["refund_rate_percent"]) == (9_000, 10)
    assert own["totals"]["earnings_per_click_cents"] == 1_800
    assert (other["currency"], other["totals"]["clicks"]) == ("USD", 1)
    assert [(row["id"], row["totals"]["clicks"]) for row in report["programs"]] == [(second.program_id, 1)]
    narrow = await assistant.issue([Scope.PERFORMANCE_READ], program_ids=[acme.program_id])
    beyond = (await assistant.tool("get_performance", key=narrow, compare_with=[second.program_id])).rejection
    assert beyond["code"] == "program_not_allowed"
    assert split == {"lead_cents": 150, "sale_cents": 0, "previous_lead_cents": 0, "previous_sale_cents": 0}


async def test_a_breakdown_is_a_table_of_values_and_metrics(assistant: Assistant):
    await visit(assistant, utm_source="letter\u200b\ufe0f\U000e0041", country="DE")
    await visit(assistant, utm_source="letter\u200b\ufe0f\U000e0041", country="SE")
    await visit(assistant, country="SE")

    whole = (await assistant.tool("get_breakdown", by="utm_source", metrics="clicks, revenue_cents", limit=1)).payload
    part = (await assistant.tool("get_breakdown", by="os,country", filters="country=DE")).payload
    none = (await assistant.tool("get_breakdown", by="country", filters="utm_source=(none)")).payload

    assert whole["columns"] == ["utm_source", "clicks", "revenue_cents"]
    assert (whole["untrusted"], part["untrusted"]) == (["utm_source"], ["os", "country"])
    assert whole["rows"] == [["letter", 2, 0]]
    assert (whole["other_groups"], whole["sums"]) == (1, {"other": [1, 0], "total": [3, 0]})
    days = (await assistant.tool("get_breakdown", by="week,day", metrics="clicks", compare="previous")).payload
    other = (
        await assistant.tool("get_breakdown", by="country", metrics="clicks", compare="2026-05-20/2026-05-20")
    ).payload

    assert (days["columns"], days["rows"]) == (
        ["week", "day", "clicks", "compared_clicks"],
        [["2026-05-18", "2026-05-20", 3, 0]],
    )
    assert (days["compared"], days["sums"]["compared_total"]) == ({"first": "2026-05-07", "last": "2026-05-13"}, [0])
    assert other["rows"] == [["SE", 2, 2], ["DE", 1, 1]]
    assert [row[:3] for row in part["rows"]] == [[None, "DE", 1]]
    assert [row[:2] for row in none["rows"]] == [["SE", 1]]


async def test_a_wrong_breakdown_period_or_range_is_named(assistant: Assistant):
    async def rejected(name: str, **arguments: Any) -> Any:
        return (await assistant.tool(name, **arguments)).rejection

    for wrong, field in WRONG_BREAKDOWNS:
        rejection = await rejected("get_breakdown", **wrong)
        assert (rejection["code"], rejection["fields"][0]["field"]) == ("validation_error", field), wrong
    for period, code in (("1d", "invalid_period"), ("2026-01-05/x", "invalid_range")):
        assert (await rejected("get_breakdown", by="hour", period=period))["code"] == code
    for dates, code in (
        ({"date_from": "2026-05-01"}, "validation_error"),
        ({"date_from": "2026-05-02", "date_to": "2026-05-01"}, "invalid_range"),
        ({"date_to": "yesterday!"}, "validation_error"),
    ):
        rejection = await rejected("get_performance", **dates)
        assert (rejection["code"], "dateFrom" in str(rejection)) == (code, False), dates
