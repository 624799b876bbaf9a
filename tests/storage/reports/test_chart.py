"""What the overview shows: the chart, work that waits, holds, comparisons, and the checklist's steps."""

from datetime import date, timedelta
from itertools import product
from typing import Any

import pytest

from storage.lists import balances
from storage.lists.customers import CUSTOMERS
from storage.management import commission_decisions
from storage.management.commission_decisions import Waiting
from storage.reports import chart, checklist, comparison, performance
from storage.reports.chart import Results
from storage.rules.periods.period import DateRangeQuery, Window
from storage.rules.reports.metrics import RefundedMonth
from storage.tracking import test_mode
from tests.storage.management.importing import COMMISSIONS, imported
from tests.tables import table
from tests.world import HELD_SINCE, NOW, World

DAY = NOW.date()


async def results(acme: World, partner_id: int | None = None, **query: Any) -> Results:
    wanted = DateRangeQuery(**query)
    return await acme.store.read(chart.read_results, acme.program_id, wanted, at=NOW, partner_id=partner_id)


async def test_days_have_refunds_on_the_day_of_the_refund(acme: World):
    await acme.customer(at=HELD_SINCE)
    await acme.sale(occurred_at=HELD_SINCE, at=HELD_SINCE)
    await acme.refund("inv-1", 2_500)

    week, month = [await results(acme, period=period) for period in ("7d", "30d")]

    assert [len(each.steps) for each in (week, month)] == [7, 30]
    assert [step.refunded_cents for step in week.steps] == [0] * 6 + [2_500]
    assert [step.totals.revenue_cents for step in month.steps if step.totals.revenue_cents] == [7_500]
    assert month.report.current.revenue_cents == sum(step.totals.revenue_cents for step in month.steps)
    assert [step.totals.revenue_cents for step in week.previous_steps] == [0] * 7


async def test_a_single_day_is_shown_by_the_hour_for_the_program_and_for_each_partner(acme: World):
    await acme.customer()
    await acme.sale()
    await acme.refund("inv-1", 2_500)
    await acme.visitor("ben", at=NOW - timedelta(days=1, hours=2))
    today = {"date_from": str(NOW.date()), "date_to": str(NOW.date())}

    whole, anna, ben = [await results(acme, partner_id, **today) for partner_id in (None, acme.anna, acme.ben)]

    assert whole.is_hourly
    assert len(whole.steps) == len(whole.previous_steps) == 24
    noon = whole.steps[NOW.hour]
    assert (noon.first, noon.totals.clicks, noon.totals.revenue_cents, noon.refunded_cents) == (NOW, 1, 7_500, 2_500)
    assert anna.steps == whole.steps
    assert [step.totals.clicks for step in ben.steps] == [0] * 24
    assert ben.previous_steps[NOW.hour - 2].totals.clicks == 1
    assert ben.report.previous.clicks == 1
    assert anna.report.current == whole.report.current._replace(partners=1)


async def test_pending_work_counts_holds_flags_and_provisional_leads_with_their_worth(acme: World):
    await acme.customer(at=HELD_SINCE)
    await acme.sale(occurred_at=HELD_SINCE, at=HELD_SINCE)
    await acme.customer("user-2", "ben")
    await acme.sale("inv-2", customer_key="user-2")
    await acme.refund("inv-2", 5_000)
    await acme.sale("inv-3")
    await acme.lead(await acme.visitor(), "user-3", is_trusted=False)

    before = await acme.store.read(commission_decisions.get_pending_work, acme.program_id, at=NOW)
    buyer = (await acme.listed(CUSTOMERS)).data[-1]
    both = [await acme.flag(), await acme.flag(buyer.id)]
    after = await acme.store.read(commission_decisions.get_pending_work, acme.program_id, at=NOW + timedelta(days=10))
    chosen = await acme.store.read(commission_decisions.count_held, acme.program_id, both)

    assert (before.ready, before.flags, before.held) == (Waiting(1, 2_000), 0, Waiting())
    assert (before.to_pay, before.provisional_leads) == (Waiting(), 1)
    assert after.ready == Waiting(1, 2_000)
    assert (after.flags, after.held, chosen) == (2, Waiting(1, 2_000), Waiting(1, 2_000))


@pytest.mark.both_databases
async def test_holds_say_when_they_end_and_refunds_are_summed_by_month_and_partner(acme: World):
    await acme.customer()
    await acme.sale()
    [hold] = await acme.store.read(balances.next_holds, acme.program_id, acme.anna, at=NOW)
    owed = await acme.store.read(balances.of_partners, acme.program_id, [acme.anna], at=NOW)
    await acme.refund("inv-1", 2_500)

    today = DateRangeQuery(None, str(DAY), str(DAY))
    results = await acme.store.read(chart.read_report, acme.program_id, acme.anna, today, at=NOW)
    _, compared = await acme.store.read(comparison.compare, acme.program_id, today, at=NOW, top_partners=1)

    assert hold == (date(2026, 6, 4), 2_000)
    assert owed[acme.anna].next_hold_ends_at == owed[acme.anna].last_hold_ends_at == NOW + timedelta(days=15)
    assert results["refunds_by_month"] == [RefundedMonth("2026-05", DAY, DAY, 1, 2_500, 500)]
    assert results["customers"] == {"conversion": 1}
    assert (results["last_sale_at"], results["totals"]["revenue_cents"]) == (NOW, 7_500)
    [best] = compared["top_partners"]
    assert [best[name] for name in ("id", "refunds", "refunded_cents", "reversed_cents")] == [acme.anna, 1, 2_500, 500]
    assert best["sold"] == results["sold"]
    assert list(results["sold"].values()) == [1, 10_000, 1, 2_500, 0, 0, 100, 25]
    assert list(compared["commission_by_cause"].values()) == [0, 1_500, 0, 0]


async def report(acme: World, period: str | None = None, first: Any = None, last: Any = None, **options: Any) -> Any:
    first, last = (day and f"{day:%Y-%m-%d}" for day in (first, last))
    query = DateRangeQuery(period, first, last, **options)
    return await acme.store.read(performance.read_performance, acme.program_id, query, at=NOW)


async def test_all_starts_with_the_first_recorded_day_where_that_is_before_the_programs_creation(acme: World):
    earlier = NOW - timedelta(days=40)
    await acme.customer(at=earlier)
    await acme.sale(occurred_at=earlier)

    everything, quarter = await report(acme, "all"), await report(acme, "90d")

    assert everything.scope.window.first == earlier.date()
    assert everything.current == quarter.current
    assert everything.current.revenue_cents == 10_000


async def test_a_window_is_compared_with_the_one_before_it_or_with_another(acme: World):
    for n in range(12):
        at = NOW + timedelta(days=n)
        await acme.customer(f"user-{n}", at=at)
        await acme.sale(f"inv-{n}", 1_000 * (n + 1), customer_key=f"user-{n}", at=at)

    for length, n in product((1, 3, 5), range(12)):
        last = NOW + timedelta(days=n)
        now = await report(acme, None, last - timedelta(days=length - 1), last)
        before = await report(acme, None, *now.before.window)
        assert now.previous == before.current
    far = Window(NOW.date(), NOW.date() + timedelta(days=1))
    compared = await report(acme, None, NOW + timedelta(days=5), NOW + timedelta(days=5), before=far)
    assert (compared.current.clicks, compared.previous.clicks, compared.before.window) == (1, 2, far)


async def test_partners_are_ranked_by_what_they_brought(acme: World):
    await acme.customer("user-1", "ben")
    await acme.sale()
    await acme.click("anna")

    ranked = await acme.store.read(comparison.read_partners, (await report(acme)).scope)

    brought = [(each.name, each.totals.revenue_cents, each.totals.clicks) for each in ranked]
    assert brought == [("Ben", 10_000, 1), ("Anna", 0, 1)]


LATE = timedelta(days=2)
PAGES = table("storage/reports/pages.toml")
PROVED: list[Any] = [(page, "bot", steps) for page, steps in PAGES.pop("bots").items()]
PROVED += [(page, None, steps) for page, steps in PAGES.items()]


async def done(acme: World) -> list[str]:
    steps = await acme.store.read(checklist.list_steps, acme.program_id, base_url="https://svc.example")
    return [each.step for each in steps if each.done][2:]  # every program here has a key and partners


@pytest.mark.parametrize(("page", "filtered", "proved"), PROVED)
async def test_a_click_proves_the_tracker_on_the_program_s_own_pages(
    acme: World, page: str, filtered: str | None, proved: list[str]
):
    await acme.change(further_domains="pay.example")

    await acme.click(page_url=page.format(id=acme.program_id) or None, filtered=filtered)

    assert await done(acme) == proved


@pytest.mark.both_databases
async def test_imported_late_and_browser_s_test_events_prove_nothing_and_live_ones_do(acme: World):
    earned = COMMISSIONS.replace("nora", "anna").replace("user-7", "old-1").replace("2025-02-04", NOW.isoformat())
    await imported(acme, (earned,))
    test = test_mode.TestModeCall("click", NOW, program_id=acme.program_id)
    await acme.store.write(test_mode.record_without_key, test)
    at_first = await done(acme)
    await acme.sale("late-inv", customer_key="old-1", at=NOW + LATE, occurred_at=NOW)
    late = await done(acme)
    await acme.customer("new-1")
    await acme.sale("new-inv", customer_key="new-1")

    assert (at_first, late) == ([], [])
    assert await done(acme) == ["live_click", "live_lead", "live_sale"]
