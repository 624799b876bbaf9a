"""The report, lists and settings as storage gives them."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection, event

from storage.engine.audit import Actor
from storage.engine.pagination import Paging
from storage.management import commissions, partners
from storage.reading import customer_timelines, events, performance
from storage.reading.event_kinds import EventKind
from storage.reading.performance import Performance
from storage.rules import errors
from storage.rules.commission import CommissionStatus
from storage.rules.period import DateRangeQuery, Window
from tests import world
from tests.world import NOW, World

pytestmark = pytest.mark.anyio
OLGA = Actor("user", "1", "olga@acme.example")


async def test_all_starts_with_the_first_recorded_day_where_that_is_before_the_programs_creation(acme: World):
    earlier = NOW - timedelta(days=40)
    await acme.customer(at=earlier)
    await acme.sale(occurred_at=earlier)

    everything, quarter = [
        await acme.store.read(performance.get_report, acme.program_id, DateRangeQuery(name), at=NOW)
        for name in ("all", "90d")
    ]

    assert everything.window.first == earlier.date()
    assert everything.current == quarter.current
    assert everything.current.revenue_cents == 10_000


async def test_a_report_reads_the_rollups_once_for_both_windows(acme: World):
    statements: list[str] = []

    def watched(connection: Connection) -> Performance:
        event.listen(connection, "before_cursor_execute", lambda _c, _u, statement, *_: statements.append(statement))
        return performance.get_report(connection, acme.program_id, DateRangeQuery("90d"), at=NOW)

    await acme.customer()
    report = await acme.store.read(watched)

    assert report.current.clicks == 1
    assert sum("FROM rollups" in statement for statement in statements) == 1
    assert len(statements) == 2


async def test_the_previous_totals_of_a_window_are_the_totals_of_the_one_before(acme: World):
    for n in range(12):
        at = NOW + timedelta(days=n)
        await acme.customer(f"user-{n}", at=at)
        await acme.sale(f"inv-{n}", 1_000 * (n + 1), customer_key=f"user-{n}", at=at)

    for length in (1, 3, 5):
        for n in range(12):
            last = (NOW + timedelta(days=n)).date()
            wanted = DateRangeQuery(None, (last - timedelta(days=length - 1)).isoformat(), last.isoformat())
            now = await acme.store.read(performance.get_report, acme.program_id, wanted, at=NOW)
            window = now.previous_window
            wanted = DateRangeQuery(None, window.first.isoformat(), window.last.isoformat())
            before = await acme.store.read(performance.get_report, acme.program_id, wanted, at=NOW)
            assert now.previous == before.current


async def test_partners_are_ranked_by_what_they_brought(acme: World):
    await acme.customer("user-1", "ben")
    await acme.sale()
    await acme.click("anna")
    report = await acme.store.read(performance.get_report, acme.program_id, DateRangeQuery(), at=NOW)

    ranked = await acme.store.read(performance.by_partner, acme.program_id, report.window)

    assert [(each.name, each.totals.revenue_cents, each.totals.clicks) for each in ranked] == [
        ("Ben", 10_000, 1),
        ("Anna", 0, 1),
    ]


async def test_another_programs_partner_and_commission_and_no_program_s_report_are_not_found(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
    await acme.customer()
    sold = await acme.sale()
    decide = (commissions.decide, other.program_id, sold.commission_id, CommissionStatus.APPROVED)

    with pytest.raises(errors.NotFound):
        await acme.store.write(partners.change, other.program_id, acme.anna, {"name": "X"}, actor=OLGA, at=NOW)
    with pytest.raises(errors.NotFound):
        await acme.store.write(*decide, actor=OLGA, at=NOW)
    with pytest.raises(errors.NotFound):
        await acme.store.read(performance.get_report, 99, DateRangeQuery(), at=NOW)


async def test_events_of_every_kind_are_one_list_that_skips_and_repeats_nothing(acme: World):
    for n in range(4):
        at = NOW + timedelta(milliseconds=n // 2)  # several kinds share a moment
        await acme.customer(f"user-{n}", at=at)
        await acme.sale(f"inv-{n}", customer_key=f"user-{n}", at=at)
    whole = (await acme.store.read(events.list_events, acme.program_id, Paging(200))).data

    read, cursor = [], None
    while page := await acme.store.read(events.list_events, acme.program_id, Paging(2, cursor)):
        read += page.data
        cursor = page.next_cursor
        if cursor is None:
            break

    assert read == whole
    assert len({(each.kind, each.id) for each in whole}) == len(whole) == 12
    only = await acme.store.read(events.list_events, acme.program_id, kind=EventKind.LEAD)
    assert only.data == [each for each in whole if each.kind == EventKind.LEAD]


async def test_a_timeline_has_only_the_events_of_its_customer(acme: World):
    for n in range(2):
        await acme.customer(f"user-{n}")
        await acme.sale(f"inv-{n}", customer_key=f"user-{n}")
    match = customer_timelines.CustomerFilter(customer_key="user-1")
    (record,) = (await acme.store.read(customer_timelines.list_customers, acme.program_id, match=match)).data

    trail = await acme.store.read(customer_timelines.get_timeline, acme.program_id, record.id)

    assert trail.customer == record
    assert len(trail.steps) == 4
    assert {step.customer_key for step in trail.steps if step.customer_id} == {"user-1"}


async def test_a_window_is_compared_with_one_that_is_not_just_before_it(acme: World):
    for n in range(6):
        await acme.visitor(at=NOW + timedelta(days=n))
    last = (NOW + timedelta(days=5)).date().isoformat()
    far = Window(NOW.date(), NOW.date() + timedelta(days=1))

    report = await acme.store.read(
        performance.get_report, acme.program_id, DateRangeQuery(None, last, last), at=NOW, before=far
    )

    assert (report.current.clicks, report.previous.clicks, report.previous_window) == (1, 2, far)
