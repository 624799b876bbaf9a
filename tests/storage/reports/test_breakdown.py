"""Breakdowns: every group equals what the stored rows add up to, and their sum is the report."""

import json
from typing import Any

import pytest

from storage.reports import breakdown, performance
from storage.rules.click_details import ClickDetails
from storage.rules.errors import NotFound, ValidationError
from storage.rules.periods.period import DateRangeQuery
from storage.rules.reports import breakdown as rules
from storage.rules.reports.breakdown import Dimension, Metric, RankedGroups
from tests.storage.databases import both_databases
from tests.storage.reports.rows import busy, recomputed, require_equal
from tests.world import NOW, World

MONTH = DateRangeQuery("30d")
PAIRS = [
    (Dimension.UTM_SOURCE, Dimension.DEVICE),
    (Dimension.PARTNER, Dimension.HOUR),
    (Dimension.COHORT, Dimension.MONTHS_SINCE),
    (Dimension.PRODUCT, Dimension.TERMS_VERSION),
]
OF_BUYERS = "product=pro product=(none) terms_version=2 buyer=returning cohort=2026-04 cohort=(none) months_since=1"
FILTERS = f"device=(none) partner=anna weekday=Monday hour=07 {OF_BUYERS}"


async def broken_down(acme: World, *by: str, period: DateRangeQuery = MONTH, **options: Any) -> RankedGroups:
    query = rules.query(*by, **{"limit": 200, **options})
    return (await acme.store.read(breakdown.read_breakdown, acme.program_id, period, query, at=NOW)).ranked


@both_databases
async def test_every_group_is_what_its_rows_add_up_to_and_the_groups_add_up_to_the_report(acme: World):
    await busy(acme, seed=1)
    report = await acme.store.read(performance.read_performance, acme.program_id, MONTH, at=NOW)

    for by in [*((each,) for each in Dimension), *PAIRS]:
        result = await broken_down(acme, *by)
        require_equal(result, await acme.store.read(recomputed, acme, by), report)
    assert report.current.commission_cents > 0
    assert result.total.refunds > 0


async def test_a_filter_leaves_the_rows_that_have_its_value(acme: World):
    await busy(acme, 3)

    filtered = await broken_down(acme, "partner", filters={"device": "mobile"})

    expected = await acme.store.read(recomputed, acme, (Dimension.PARTNER,), "mobile")
    assert {group.values: group.totals.clicks for group in filtered.groups} == {
        values: counts["clicks"] for values, counts in expected.items()
    }
    by_device = {group.values[0]: group.totals for group in (await broken_down(acme, "device")).groups}
    assert filtered.total == by_device["mobile"]
    for dimension, value in (each.split("=") for each in FILTERS.split()):
        whole = {group.values[0]: group.totals for group in (await broken_down(acme, dimension)).groups}
        part = await broken_down(acme, "utm_source", filters={dimension: value})
        assert part.total == whole.get(None if value == "(none)" else value, type(part.total)())


async def test_what_does_not_fit_is_one_sum(acme: World):
    await busy(acme, 4)

    result = await broken_down(acme, "hour", limit=2, shown=["revenue_cents"])
    whole = await broken_down(acme, "hour", shown=["revenue_cents"])

    assert [group.totals for group in result.groups] == [group.totals for group in whole.groups[:2]]
    assert whole.groups[0].totals.revenue_cents >= whole.groups[1].totals.revenue_cents
    assert result.other_groups == len(whole.groups) - 2
    assert result.other.revenue_cents == sum(group.totals.revenue_cents for group in whole.groups[2:])
    assert result.total == whole.total


async def test_the_rates_are_those_of_the_group(acme: World):
    await acme.customer()
    await acme.visitor()
    await acme.sale("inv-1", 10_000)
    await acme.sale("inv-2", 5_000)
    await acme.refund("inv-2")

    totals = (await broken_down(acme, "partner")).total

    figures = {metric.value: totals.figure(metric) for metric in Metric}
    assert (figures["clicks"], figures["sales"], figures["refunds"], figures["refunded_cents"]) == (2, 1, 1, 5_000)
    rates = ("conversion_rate_percent", "earnings_per_click_cents", "refund_rate_percent")
    assert [figures[rate] for rate in rates] == [50.0, 1_000.0, 33.33]


@pytest.mark.parametrize(("bound", "field"), [("MOST_EVENTS", "period"), ("MOST_GROUPS", "by")])
async def test_too_much_is_an_error_that_says_what_to_do(
    acme: World, bound: str, field: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(breakdown, bound, 2)
    for source in ("a", "b", "c"):
        await acme.visitor(details=ClickDetails(dimensions=json.dumps({"utm_source": source})))

    with pytest.raises(ValidationError) as raised:
        await broken_down(acme, "utm_source")

    assert [each.field for each in raised.value.fields] == [field]


async def test_a_program_without_events_has_no_groups_and_no_program_none(acme: World):
    empty = await broken_down(acme, "country")

    assert (empty.groups, empty.total.clicks) == ([], 0)
    with pytest.raises(NotFound):
        await acme.store.read(breakdown.read_breakdown, 99, MONTH, rules.query("country"), at=NOW)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"by": "address"}, "by"),
        ({"by": "os", "second": "os"}, "second"),
        ({"by": "os", "shown": ["clicks", "profit"]}, "metrics"),
        ({"by": "os", "sort": "profit"}, "sort"),
        ({"by": "os", "limit": 201}, "limit"),
        ({"by": "os", "limit": "٣"}, "limit"),
        ({"by": "os", "filters": {"hour": "24"}}, "hour"),
        ({"by": "os", "filters": {"moon": "full"}}, "filter"),
        ({"by": "os", "filters": {"cohort": "2026-13"}}, "cohort"),
        ({"by": "os", "filters": {"months_since": "few"}}, "months_since"),
    ],
)
def test_a_wrong_parameter_is_named(wrong: dict[str, Any], field: str):
    with pytest.raises(ValidationError) as raised:
        rules.query(**wrong)

    assert [each.field for each in raised.value.fields] == [field]
