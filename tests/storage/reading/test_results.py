"""Results by day and hour, of a program and of a partner, and what waits for a person."""

from datetime import timedelta

import pytest

from storage.management import partners, pending_work
from storage.management.pending_work import Waiting
from storage.reading import results
from storage.reading.results import Results
from storage.rules.period import DateRangeQuery
from tests.world import HELD_SINCE, NOW, World

pytestmark = pytest.mark.anyio


async def get(acme: World, partner_id: int | None = None, **query: str) -> Results:
    """Return the results of Acme, or of one of its partners."""
    partner = await acme.store.read(partners.get_partner, acme.program_id, partner_id) if partner_id else None
    wanted = DateRangeQuery(**query)
    return await acme.store.read(results.get_results, acme.program_id, wanted, at=NOW, partner=partner)


async def test_days_have_refunds_on_the_day_of_the_refund(acme: World):
    await acme.customer(at=HELD_SINCE)
    await acme.sale(occurred_at=HELD_SINCE, at=HELD_SINCE)
    await acme.refund("inv-1", 2_500)

    week, month = [await get(acme, period=period) for period in ("7d", "30d")]

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

    whole, anna, ben = [await get(acme, partner_id, **today) for partner_id in (None, acme.anna, acme.ben)]

    assert whole.is_hourly
    assert len(whole.steps) == len(whole.previous_steps) == 24
    noon = whole.steps[NOW.hour]
    assert (noon.at, noon.totals.clicks, noon.totals.revenue_cents, noon.refunded_cents) == (NOW, 1, 7_500, 2_500)
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

    before = await acme.store.read(pending_work.get_pending_work, acme.program_id, at=NOW)
    await acme.flag()
    after = await acme.store.read(pending_work.get_pending_work, acme.program_id, at=NOW + timedelta(days=10))

    assert (before.ready, before.soon, before.flags, before.held) == (Waiting(1, 2_000), Waiting(), 0, Waiting())
    assert (before.next_hold_ends_at, before.provisional_leads) == (None, 1)
    assert (after.soon, after.next_hold_ends_at) == (Waiting(2, 3_000), NOW + timedelta(days=15))
    assert (after.flags, after.held) == (1, Waiting(1, 2_000))
