"""The lists that people read: every order, every page in both directions, totals and search."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from storage.engine import listing
from storage.engine.audit import OPERATOR
from storage.engine.listing import Listed, ListQuery, Order
from storage.management import partners
from storage.reading import event_kinds, events, listed_commissions, listed_customers, listed_partners
from storage.reading.customer_timelines import EVERY_CUSTOMER
from storage.reading.event_kinds import EventKind
from storage.reading.listed_commissions import CommissionMatch
from storage.reading.listed_partners import PartnerMatch
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.errors import ValidationError
from storage.rules.period import Window
from tests.world import NOW, World

WINDOW = Window(NOW.date() - timedelta(days=30), NOW.date())
Read = Callable[[ListQuery], Awaitable[Listed[Any]]]


@pytest.fixture
async def sold(acme: World) -> World:
    """Acme with seven sales of different customers; some cost the same, and one is refunded in part."""
    for n, cents in enumerate((5_000, 1_000, 5_000, 9_000, 1_000, 5_000, 2_000)):
        await acme.customer(f"user-{n}", "ben" if n % 3 else "anna")
        await acme.sale(f"inv-{n}", cents, customer_key=f"user-{n}")
    await acme.refund("inv-3", 3_000)
    return acme


def commissions(world: World, **match: Any) -> Read:
    return lambda query: world.store.read(listed_commissions.read, world.program_id, query, CommissionMatch(**match))


def customers(world: World, search: str | None = None) -> Read:
    return lambda query: world.store.read(listed_customers.read, world.program_id, query, EVERY_CUSTOMER, search=search)


def of_partners(world: World, **match: Any) -> Read:
    return lambda query: world.store.read(listed_partners.read, world.program_id, query, PartnerMatch(**match), WINDOW)


def events_of(world: World, **match: Any) -> Read:
    return lambda query: world.store.read(events.read, world.program_id, query, **match)


async def walked(read: Read, order: Order) -> list[Any]:
    """Return all rows by pages of two, and check that the way back shows the same pages."""
    pages = [await read(ListQuery(2, order=order))]
    while pages[-1].next_cursor:
        pages.append(await read(ListQuery(2, pages[-1].next_cursor, order)))
    back = [pages[-1]]
    while back[0].previous_cursor:
        back.insert(0, await read(ListQuery(2, back[0].previous_cursor, order)))
    assert [page.data for page in back] == [page.data for page in pages]
    assert (back[0].next_cursor is None) == (len(pages) == 1)
    return [row for page in pages for row in page.data]


async def test_each_order_shows_every_row_once_forwards_and_backwards(sold: World):
    orders: dict[Read, dict[str | None, Callable[[Any], Any]]] = {
        commissions(sold): {
            None: lambda row: row.id,
            "net": lambda row: (row.net_cents, row.id),
            "hold_until": lambda row: (row.hold_until, row.id),
            "partner": lambda row: (row.partner_name.lower(), row.id),
        },
        customers(sold): {
            "revenue": lambda row: (row.revenue_cents, row.customer.id),
            "refunded": lambda row: (row.refunded_cents, row.customer.id),
            "first_purchase": lambda row: (row.customer.first_purchase_at, row.customer.id),
            "customer_key": lambda row: row.customer.customer_key,
        },
        events_of(sold): {None: event_kinds.place},
        events_of(sold, kind=EventKind.CLICK): {None: event_kinds.place},
        of_partners(sold): {"name": lambda row: row.partner.name.lower(), None: lambda row: row.partner.id},
    }
    for read, columns in orders.items():
        for order in (Order(column, is_ascending) for column in columns for is_ascending in (True, False)):
            rows = await walked(read, order)

            assert rows == sorted(rows, key=columns[order.column], reverse=not order.is_ascending), order
            assert len({str(row) for row in rows}) == len(rows)
        totals = (await read(ListQuery())).totals
        assert totals is None or totals[listing.ROWS] == len(rows)


async def test_totals_are_of_all_that_matches_and_not_of_the_page(sold: World):
    all_of_them = await commissions(sold)(ListQuery(1))
    of_ben = await commissions(sold, search="BEN")(ListQuery(1))
    people = await customers(sold)(ListQuery(1))
    brought = await of_partners(sold)(ListQuery(1))

    assert all_of_them.totals == {"rows": 7, "net": (28_000 - 3_000) // 5}
    assert of_ben.totals == {"rows": 4, "net": (1_000 + 5_000 + 1_000 + 5_000) // 5}
    assert people.totals == {"rows": 7, "sales": 7, "revenue": 28_000, "refunded": 3_000}
    assert brought.totals is not None
    assert (brought.totals["rows"], brought.totals["revenue_cents"]) == (2, 25_000)


async def test_partners_are_sorted_by_what_they_brought(sold: World):
    most = await of_partners(sold)(ListQuery(order=Order("revenue_cents")))
    least = await of_partners(sold)(ListQuery(order=Order("revenue_cents", is_ascending=True)))

    assert [each.partner.code for each in most.data] == ["anna", "ben"]
    assert [each.partner.code for each in least.data] == ["ben", "anna"]


async def test_events_are_found_by_partner_customer_or_transaction(sold: World):
    found = {"Anna": 10, "user-2": 3, "inv-3": 2, "nothing": 0}

    assert {text: len((await events_of(sold, search=text)(ListQuery())).data) for text in found} == found


async def test_commissions_are_found_by_text_status_and_hold(sold: World):
    found = {"inv-3": 1, "user-2": 1, "Ann": 3, "%": 0, "_nn": 0, "9" * 40: 0}

    assert {text: len((await commissions(sold, search=text)(ListQuery())).data) for text in found} == found
    assert not (await commissions(sold, status=CommissionStatus.PAID)(ListQuery())).data
    assert not (await commissions(sold, ready_at=NOW)(ListQuery())).data
    assert len((await commissions(sold, ready_at=NOW + timedelta(days=400))(ListQuery())).data) == 7


async def test_a_search_finds_a_customer_by_e_mail_address_and_a_partner_by_name(sold: World):
    everyone = await customers(sold)(ListQuery())
    key = everyone.data[0].customer.customer_key
    (listed,) = (await of_partners(sold, search="BE")(ListQuery())).data
    await sold.store.write(
        partners.change, sold.program_id, listed.partner.id, {"status": PartnerStatus.PAUSED}, actor=OPERATOR, at=NOW
    )

    assert [each.customer.customer_key for each in (await customers(sold, str(key))(ListQuery())).data] == [key]
    paused = await of_partners(sold, status=PartnerStatus.PAUSED)(ListQuery())
    assert [each.partner.code for each in paused.data] == ["ben"]


async def test_a_list_of_too_many_rows_is_sorted_by_time_and_has_no_totals(
    sold: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(listing, "MOST_ROWS", 6)

    listed = await commissions(sold)(ListQuery(order=Order("net")))

    assert (listed.totals, listed.order) == (None, listing.NEWEST_FIRST)
    assert [row.id for row in listed.data] == sorted((row.id for row in listed.data), reverse=True)


async def test_an_invented_cursor_is_rejected_or_shows_nothing(sold: World):
    with pytest.raises(ValidationError):
        await commissions(sold)(ListQuery(cursor="WzFd"))

    assert not (await commissions(sold)(ListQuery(cursor="WzAsIDFd", order=Order("net")))).data
