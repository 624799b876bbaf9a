"""Several programs in one call: totals, ratios and refunds of a period and of the one before."""

import pytest

from storage.rules.scope import Scope
from tests import world
from tests.mcp_server.conftest import Assistant

pytestmark = pytest.mark.anyio


async def test_programs_are_compared_by_calendar_month(assistant: Assistant, click_id: str):
    acme = assistant.acme
    second = await world.program_of(acme.store, acme.workspace_id, acme.owner_id, name="Second")

    compared = (await assistant.tool("list_programs", period="this_month")).payload
    report = (await assistant.tool("get_performance", period="this_month", compare_with=[second.program_id])).payload

    assert click_id
    assert compared["window"] == report["window"] == {"first": "2026-05-01", "last": "2026-05-31"}
    assert compared["previous_window"] == {"first": "2026-04-01", "last": "2026-04-30"}
    other, own = compared["data"]
    assert (own["totals"], own["previous_totals"]) == (report["totals"], report["previous_totals"])
    assert (own["totals"]["revenue_cents"], own["totals"]["refund_rate_percent"]) == (9_000, 10)
    assert own["totals"]["earnings_per_click_cents"] == 1_800
    assert (other["currency"], other["totals"]["clicks"]) == ("USD", 0)
    assert [(row["id"], row["totals"]["clicks"]) for row in report["programs"]] == [(second.program_id, 0)]


async def test_a_comparison_is_of_own_programs_with_the_scope(assistant: Assistant):
    key = await assistant.issue([Scope.PROGRAMS_READ])

    foreign = (await assistant.tool("get_performance", compare_with=[assistant.globex.program_id])).rejection
    scopeless = (await assistant.tool("list_programs", key=key, period="30d")).rejection
    wrong = (await assistant.tool("get_performance", compare_with=[])).rejection

    assert foreign["code"] == "program_not_allowed"
    assert (scopeless["code"], scopeless["required_scope"]) == ("insufficient_scope", "performance:read")
    assert wrong["fields"][0]["message"] == "A list of 1 to 20 integers"


@pytest.mark.usefixtures("click_id")
async def test_commission_is_split_by_cause_and_refunds_by_month_and_partner(assistant: Assistant):
    payload = (await assistant.tool("get_performance", top_partners=1)).payload

    assert payload["commission_by_cause"]["sale_cents"] == payload["totals"]["commission_cents"] == 1_800
    assert payload["commission_by_cause"]["lead_cents"] == 0
    assert payload["refunds_by_month"] == [
        {"month": "2026-05", "refunds": 1, "refunded_cents": 1_000, "reversed_cents": 200}
    ]
    [best] = payload["top_partners"]
    assert (best["refunded_cents"], best["reversed_cents"], best["refund_rate_percent"]) == (1_000, 200, 10)
    assert best["previous_revenue_cents"] == 0
