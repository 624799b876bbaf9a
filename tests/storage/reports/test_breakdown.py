"""Breakdowns: every group equals what the stored rows add up to, and their sum is the report."""

import json
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from storage.reports import breakdown, explore, grouped_events, performance
from storage.rules.errors import NotFound, ValidationError
from storage.rules.periods import picked_period
from storage.rules.periods.period import Window
from storage.rules.reports import breakdown_query as rules
from storage.rules.reports.breakdown import NOTHING, Dimension, Metric
from tests.storage.reports.rows import COUNTED, MONTH, Passes, broken_down, busy, recomputed, require_equal
from tests.world import NOW, World

D = Dimension
PAIRS = [(D.UTM_SOURCE, D.DEVICE), (D.PARTNER, D.HOUR), (D.COHORT, D.MONTHS_SINCE), (D.PRODUCT, D.TERMS_VERSION)]
FILTERS: dict[str, Passes] = {  # as a page sends them
    "device=(none)": lambda value: value(D.DEVICE) is None,
    "device.not=(none)": lambda value: value(D.DEVICE) is not None,
    "device.not=mobile": lambda value: value(D.DEVICE) != "mobile",
    "utm_source=été": lambda value: value(D.UTM_SOURCE) == "été",
    "utm_source.contains=LETT": lambda value: value(D.UTM_SOURCE) == "letter",
    "referrer.contains=news": lambda value: value(D.REFERRER) == "news.example",
    "partner=anna": lambda value: value(D.PARTNER) == "anna",
    "partner=Anna": lambda value: value(D.PARTNER) == "anna",  # by the name
    "partner.not=anna": lambda value: value(D.PARTNER) != "anna",
    "partner.contains=EN": lambda value: value(D.PARTNER) == "ben",
    "weekday=Monday": lambda value: value(D.WEEKDAY) == "Monday",
    "weekday.contains=sun": lambda value: value(D.WEEKDAY) == "Sunday",
    "hour.not=07": lambda value: value(D.HOUR) != "07",
    "product=pro": lambda value: value(D.PRODUCT) == "pro",
    "product.not=pro": lambda value: value(D.PRODUCT) != "pro",
    "terms_version=2": lambda value: value(D.TERMS_VERSION) == "2",
    "buyer=returning": lambda value: value(D.BUYER) == "returning",
    "cohort=2026-04": lambda value: value(D.COHORT) == "2026-04",
    "cohort=(none)": lambda value: value(D.COHORT) is None,
    "months_since=1": lambda value: value(D.MONTHS_SINCE) == "1",
    "partner=anna&device.not=mobile": lambda value: (value(D.PARTNER), value(D.DEVICE) == "mobile") == ("anna", False),
}


@pytest.mark.both_databases
async def test_every_group_is_what_its_rows_add_up_to_and_the_groups_add_up_to_the_report(acme: World):
    await busy(acme, seed=1)
    report = await acme.store.read(performance.read_performance, acme.program_id, MONTH, at=NOW)

    for by in [*((each,) for each in Dimension), *PAIRS]:
        result = await broken_down(acme, *by)
        require_equal(result, await acme.store.read(recomputed, acme, by), report)
    assert report.current.commission_cents > 0
    assert result.total.totals.refunds > 0


@pytest.mark.both_databases
async def test_filters_leave_the_rows_that_pass_them_in_every_card_and_the_results_of_one_read(acme: World):
    await busy(acme, 3)
    picked = picked_period.pick(MONTH, at=NOW)
    by = [D.PARTNER, D.DEVICE, D.UTM_SOURCE, D.BUYER]

    for sent, passes in FILTERS.items():
        filters = rules.stored_filters(dict(each.split("=") for each in sent.split("&")))
        query = explore.BY_REVENUE._replace(by=tuple(by), filters=filters, limit=9)
        cards, results = await acme.store.read(explore.read_cards, acme.program_id, picked, query, at=NOW)

        for dimension, card in zip(by, cards, strict=True):
            expected = await acme.store.read(recomputed, acme, (dimension,), passes)
            groups = {each.values: each.totals for each in card.groups}
            for values in {*expected, *groups}:
                counts, totals = expected.get(values, Counter[str]()), groups.get(values, NOTHING)
                assert [getattr(totals, name) for name in COUNTED] == [counts[name] for name in COUNTED], sent
        assert card.total.totals[:6] == results.report.current[:6], sent
        assert len(results.steps) == len(results.previous_steps) == 30


async def test_filters_reach_back_as_far_as_the_clicks_are_not_too_many(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grouped_events, "MOST_EVENTS", 4)
    for days in (0, 0, 1, 2, 3):
        await acme.visitor(at=NOW - timedelta(days=days))
    whole = Window(NOW.date() - timedelta(days=9), NOW.date())

    frames = [
        await acme.store.read(explore.read_frame, acme.program_id, whole.query(before), is_filtered=filtered, at=NOW)
        for before, filtered in ((None, False), (None, True), (whole.previous, True))
    ]

    assert [frame.results.report.current.clicks for frame in frames] == [5] * 3
    lengths = [frame.reach.length if frame.reach else None for frame in frames]
    assert lengths == [None, 3, 1]  # of a range that is compared, half as much


async def test_what_does_not_fit_is_one_sum(acme: World):
    await busy(acme, 4)

    result = await broken_down(acme, "hour", limit=2, shown=["revenue_cents"])
    whole = await broken_down(acme, "hour", shown=["revenue_cents"])

    assert [group.totals for group in result.groups] == [group.totals for group in whole.groups[:2]]
    assert whole.groups[0].totals.revenue_cents >= whole.groups[1].totals.revenue_cents
    assert result.other_groups == len(whole.groups) - 2
    assert result.other.totals.revenue_cents == sum(group.totals.revenue_cents for group in whole.groups[2:])
    assert result.total == whole.total


async def test_the_rates_are_those_of_the_group(acme: World):
    await acme.customer()
    await acme.visitor()
    await acme.sale("inv-1", 10_000)
    await acme.sale("inv-2", 5_000)
    await acme.refund("inv-2")

    totals = (await broken_down(acme, "partner")).total.totals

    figures = {metric.value: totals.figure(metric) for metric in Metric}
    assert (figures["clicks"], figures["sales"], figures["refunds"], figures["refunded_cents"]) == (2, 1, 1, 5_000)
    rates = ("conversion_rate_percent", "earnings_per_click_cents", "refund_rate_percent")
    assert [figures[rate] for rate in rates] == [50.0, 1_000.0, 33.33]


@pytest.mark.parametrize(("bound", "field"), [("MOST_EVENTS", "period"), ("MOST_GROUPS", "by")])
async def test_too_much_is_an_error_with_advice(acme: World, bound: str, field: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grouped_events, bound, 2)
    for source in ("a", "b", "c"):
        await acme.visitor(dimensions=json.dumps({"utm_source": source}))

    with pytest.raises(ValidationError) as raised:
        await broken_down(acme, "utm_source")

    assert [each.field for each in raised.value.fields] == [field]


async def test_a_program_without_events_has_no_groups_and_no_program_none(acme: World):
    empty = await broken_down(acme, "country")

    assert (empty.groups, empty.total.totals.clicks) == ([], 0)
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
        ({"by": "os", "filters": {"hour.not": "07"}}, "filter"),  # the APIs have no operators
        ({"by": "os", "filters": {"cohort": "2026-13"}}, "cohort"),
        ({"by": "os", "filters": {"months_since": "few"}}, "months_since"),
    ],
)
def test_a_wrong_parameter_is_named(wrong: dict[str, Any], field: str):
    with pytest.raises(ValidationError) as raised:
        rules.query(**wrong)

    assert [each.field for each in raised.value.fields] == [field]
