"""Stored totals by dimension: they equal what the rows add up to, after every kind of change."""

import json
from datetime import datetime, timedelta

import pytest
from sqlalchemy import delete, select

import background
from storage.reports import breakdown_increments, performance
from storage.rules.reports import dimension_totals
from storage.rules.reports.breakdown import Dimension
from storage.rules.reports.dimension_totals import STORED_AS
from storage.tables import clicks, dimension_rollups, grouped_days
from storage.tracking import rollups
from tests.storage.reports.rows import MONTH, broken_down, busy, recomputed, require_equal
from tests.world import NOW, World, stored

SOON = NOW + timedelta(minutes=1)
NEXT_DAY = NOW + timedelta(days=1)


@pytest.fixture(autouse=True)
def few_clicks_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breakdown_increments, "FEW_CLICKS", 0)
    monkeypatch.setattr(breakdown_increments, "CLICKS_AT_ONCE", 7)


async def visit(acme: World, source: str, at: datetime = NOW) -> str:
    return await acme.visitor(at=at, dimensions=json.dumps({"utm_source": source}))


async def require_equality(acme: World) -> None:
    report = await acme.store.read(performance.read_performance, acme.program_id, MONTH, at=NOW)
    for dimension in STORED_AS:
        result = await broken_down(acme, dimension)
        assert result.other_groups == 0
        expected = await acme.store.read(recomputed, acme, (dimension,))
        require_equal(result, expected, report, with_zeros=False)


@pytest.mark.both_databases
async def test_stored_totals_equal_the_rows_also_after_refunds_and_late_sales(acme: World):
    await busy(acme, seed=5)
    await background.keep_house(acme.store, at=NOW)

    await background.group_all(acme.store, at=SOON)
    await require_equality(acme)

    old = await acme.visitor("ben", at=NOW - timedelta(days=5), referrer_host="late.example", dimensions="{}")
    await acme.lead(old, "late", at=NOW - timedelta(days=4))
    await acme.sale("late", 5_000, customer_key="late", at=NOW, occurred_at=NOW - timedelta(days=3))
    await acme.refund("late", 2_000)
    await background.group_all(acme.store, at=SOON)
    await require_equality(acme)


async def test_of_a_program_with_few_clicks_the_events_are_read(acme: World, monkeypatch: pytest.MonkeyPatch):
    await visit(acme, "letter", NOW - timedelta(days=9))
    with monkeypatch.context() as few:
        few.setattr(breakdown_increments, "FEW_CLICKS", 1)
        await background.group_all(acme.store, at=SOON)

    result = await broken_down(acme, Dimension.UTM_SOURCE)

    assert await stored(acme, grouped_days.c.day) == []
    assert (result.groups[0].values, result.other_groups) == (("letter",), 0)


async def test_a_click_that_was_too_late_is_counted_when_its_day_is_over(acme: World):
    await visit(acme, "letter", NOW)
    await background.group_all(acme.store, at=SOON)
    await visit(acme, "video", NOW - timedelta(hours=1))

    await background.group_all(acme.store, at=SOON)
    early = await broken_down(acme, Dimension.UTM_SOURCE)
    assert (early.other_groups, early.other.totals.clicks, early.total.totals.clicks) == (1, 1, 2)
    await background.group_all(acme.store, at=NEXT_DAY)

    assert (await broken_down(acme, Dimension.UTM_SOURCE)).other_groups == 0
    assert await acme.store.read(breakdown_increments.next_step, acme.program_id, at=NEXT_DAY) is None


@pytest.mark.wrong_books
async def test_clicks_that_are_deleted_before_their_day_is_grouped_are_in_no_group(acme: World):
    await visit(acme, "letter")
    gone = await visit(acme, "video")
    await acme.store.write(lambda connection: connection.execute(delete(clicks).where(clicks.c.click_id == gone)))

    await background.group_all(acme.store, at=NEXT_DAY)

    result = await broken_down(acme, Dimension.UTM_SOURCE)
    assert ([each.values[0] for each in result.groups], result.other.totals.clicks) == (["letter"], 1)


async def test_rare_values_of_a_day_with_many_are_one_sum(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dimension_totals, "MOST_VALUES", 2)
    for source in ("a", "b", "b", "b", "c", "c", "d"):
        buyer = await visit(acme, source)
    await acme.lead(buyer, "buyer")
    await acme.sale(customer_key="buyer")

    await background.group_all(acme.store, at=SOON)
    result = await broken_down(acme, Dimension.UTM_SOURCE)

    assert [group.values[0] for group in result.groups] == ["b", "d"]  # a buyer outranks clicks, which anyone can make
    assert (result.other.totals.clicks, result.total.totals.clicks, result.total.totals.revenue_cents) == (3, 7, 10_000)


@pytest.mark.both_databases
async def test_two_processes_never_count_a_click_twice(acme: World):
    await visit(acme, "letter")
    step = await acme.store.read(breakdown_increments.next_step, acme.program_id, at=SOON)

    assert step is not None
    stored = [await acme.store.write(rollups.save_by_dimension, step) for _ in range(2)]
    await visit(acme, "letter", SOON)
    later = await acme.store.read(breakdown_increments.next_step, acme.program_id, at=SOON + timedelta(minutes=1))
    assert later is not None
    stored += [await acme.store.write(rollups.save_by_dimension, later) for _ in range(2)]

    assert stored == [True, False, True, False]
    counted = select(dimension_rollups.c.totals).where(dimension_rollups.c.dimension == Dimension.UTM_SOURCE)
    assert await acme.store.read(lambda connection: connection.execute(counted).scalars().all()) == ['{"letter":2}']
