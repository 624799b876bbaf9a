"""get_performance: totals and trends, rows and partners on request."""

from datetime import timedelta

import pytest

from storage.rules.scope import Scope
from tests.mcp_server.conftest import Assistant
from tests.world import NOW

pytestmark = pytest.mark.anyio


async def test_performance_has_only_totals_and_trends_by_default(assistant: Assistant, click_id: str):
    payload = (await assistant.tool("get_performance")).payload

    assert click_id
    assert payload["applied_query"] == {
        "program_id": assistant.acme.program_id,
        "period": "7d",
        "breakdown": "none",
        "top_partners": 0,
    }
    assert payload["window"] == {"first": "2026-05-14", "last": "2026-05-20"}
    assert payload["currency"] == "USD"
    assert payload["totals"]["revenue_cents"] == 9_000
    assert payload["totals"]["conversion_rate_percent"] == 100
    assert payload["trends"]["clicks"] == {"direction": "up", "previous": 0}
    assert (payload["rows"], payload["top_partners"]) == ([], [])


@pytest.mark.usefixtures("click_id")
@pytest.mark.parametrize(
    ("asked", "days", "applied", "rows"),
    [("day", 53, "day", 53), ("day", 54, "week", 9), ("day", 400, "month", 15), ("week", 1_830, "month", 61)],
)
async def test_rows_that_would_be_too_many_become_coarser(
    assistant: Assistant, *, asked: str, days: int, applied: str, rows: int
):
    dates = {"date_from": str((NOW - timedelta(days=days - 1)).date()), "date_to": str(NOW.date())}

    payload = (await assistant.tool("get_performance", breakdown=asked, **dates)).payload

    assert payload["applied_query"]["breakdown"] == applied
    assert "period" not in payload["applied_query"]
    assert abs(len(payload["rows"]) - rows) <= 1
    for total in ("clicks", "leads", "revenue_cents", "commission_cents"):
        assert sum(row[total] for row in payload["rows"]) == payload["totals"][total]


async def test_the_best_partners_need_a_scope_of_their_own(assistant: Assistant, click_id: str):
    key = await assistant.issue([Scope.PERFORMANCE_READ])

    rejected = (await assistant.tool("get_performance", key=key, top_partners=3)).rejection
    best = (await assistant.tool("get_performance", top_partners=3)).payload["top_partners"]

    assert click_id
    assert (rejected["code"], rejected["required_scope"]) == ("insufficient_scope", "partners:read")
    assert [(partner["id"], partner["name"], partner["revenue_cents"]) for partner in best] == [
        (assistant.acme.anna, "Anna", 9_000),
        (assistant.acme.ben, "Ben", 0),
    ]


@pytest.mark.parametrize(
    "dates",
    [{"date_from": "2026-05-01"}, {"date_from": "2026-05-02", "date_to": "2026-05-01"}, {"date_to": "yesterday!"}],
)
async def test_an_invalid_range_is_rejected_with_the_tools_text(assistant: Assistant, dates: dict[str, str]):
    rejection = (await assistant.tool("get_performance", **dates)).rejection

    assert rejection["code"] in {"invalid_range", "validation_error"}
    assert "dateFrom" not in str(rejection)
