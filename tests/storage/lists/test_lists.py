"""The lists that people read: every order, every page in both directions, totals and search."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from storage.lists import event_kinds
from storage.lists import find as engine
from storage.lists import partners as listed_partners
from storage.lists.commissions import COMMISSIONS
from storage.lists.customers import CUSTOMERS
from storage.lists.declaration import NEWEST_FIRST, List, ListQuery, ListScope, Order, Page
from storage.lists.event_kinds import Event, EventKind
from storage.lists.events import EVENTS
from storage.lists.find import find
from storage.lists.partners import PARTNERS
from storage.management import partners
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.periods.period import Window
from storage.tracking import currencies
from tests.world import NOW, World

LATER = NOW + timedelta(days=60)
WINDOW = Window(NOW.date() - timedelta(days=30), NOW.date())
Read = Callable[[ListQuery], Awaitable[Page[Any]]]
Keys = dict[str | None, Callable[[Any], Any]]


def listed(world: World, wanted: List[Any], *, search: str | None = None, **filters: Any) -> Read:
    """Return how a page of a list of Acme's program is read, with its totals."""
    scope = ListScope(world.program_id, LATER, WINDOW)

    async def read(query: ListQuery) -> Page[Any]:
        asked = query._replace(filters=filters, search=search, has_totals=True)
        return await world.store.read(find, wanted, scope, asked)

    return read


def of(*fields: str) -> Keys:
    """Return what each order of a list sorts by: a field and then the id; nothing comes before something."""

    def key(field: str) -> Callable[[Any], Any]:
        def of_row(row: Any) -> Any:
            value = getattr(row, field)
            return value is not None, value.lower() if isinstance(value, str) else value, row.id

        return of_row

    return {None: lambda row: row.id, **{name: key(name) for name in fields}}


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


async def require_each_order(lists: dict[Read, Keys]) -> None:
    """Assert that each order of each list shows every row once, forwards and backwards."""
    for read, columns in lists.items():
        for order in (Order(column, is_ascending) for column in columns for is_ascending in (True, False)):
            rows = await walked(read, order)

            assert len({str(row) for row in rows}) == len(rows) > 1
            assert rows == sorted(rows, key=columns[order.column], reverse=not order.is_ascending), order
            assert (await read(ListQuery(order=order))).order == order
        totals = (await read(ListQuery())).totals
        assert totals is None or totals[engine.ROWS] == len(rows)


@pytest.fixture
async def sold(acme: World) -> World:
    """Acme with seven sales of different customers; some cost the same, and one is refunded in part."""
    for n, cents in enumerate((5_000, 1_000, 5_000, 9_000, 1_000, 5_000, 2_000)):
        await acme.customer(f"user-{n}", "ben" if n % 3 else "anna")
        await acme.sale(f"inv-{n}", cents, customer_key=f"user-{n}", caller=f"shop/{n} ab12")
    await acme.refund("inv-3", 3_000, reason="Too 100%")
    return acme


def signed_cents(event: Event) -> int:
    cents = event.program_cents or 0
    return -cents if event.kind == EventKind.REFUND else cents


@pytest.mark.both_databases
async def test_each_order_shows_what_was_sold_once_forwards_and_backwards(sold: World):
    lists: dict[Read, Keys] = {
        listed(sold, COMMISSIONS): of("net_cents", "hold_until", "partner_name"),
        listed(sold, CUSTOMERS): of("revenue_cents", "refunded_cents", "first_purchase_at", "customer_key"),
        listed(sold, PARTNERS): of("name", "to_pay_cents"),
        listed(sold, EVENTS, kind=EventKind.CLICK): {None: event_kinds.place},
        listed(sold, EVENTS): {
            None: event_kinds.place,
            "kind": lambda row: (row.kind, str(row.id)),
            "partner_code": lambda row: (row.partner_code, row.kind, str(row.id)),
            "customer_key": lambda row: (row.customer_key or "", row.kind, str(row.id)),
            "amount_cents": lambda row: (signed_cents(row), row.kind, str(row.id)),
        },
    }

    await require_each_order(lists)
    filters: list[dict[str, Any]] = [{"idle": False, "to_pay": False}, {"idle": True}, {"to_pay": True}]
    reads = [listed(sold, PARTNERS, **each) for each in filters]
    reads.append(listed(sold, COMMISSIONS, approved_from=NOW, approved_to=LATER))
    assert [len((await read(ListQuery())).data) for read in reads] == [2, 0, 0, 0]


async def test_totals_and_amounts_in_each_currency_are_of_all_that_matches_and_not_of_the_page(sold: World):
    all_of_them = await listed(sold, COMMISSIONS)(ListQuery(1))
    of_ben = await listed(sold, COMMISSIONS, search="BEN")(ListQuery(1))
    people = await listed(sold, CUSTOMERS)(ListQuery(1))
    brought = await listed(sold, PARTNERS)(ListQuery(1))
    happened = await listed(sold, EVENTS)(ListQuery(1))

    assert all_of_them.totals == {"rows": 7, "net_cents": (28_000 - 3_000) // 5}
    assert of_ben.totals == {"rows": 4, "net_cents": (1_000 + 5_000 + 1_000 + 5_000) // 5}
    assert people.totals == {"rows": 7, "sales": 7, "revenue_cents": 28_000, "refunded_cents": 3_000}
    assert (brought.totals or {}).items() >= {"rows": 2, "revenue_cents": 25_000}.items()
    assert (happened.totals, happened.amounts) == ({"rows": 22}, {"USD": 28_000 - 3_000})

    await sold.store.write(currencies.load, [(NOW.date(), "USD", "1.25")])
    await sold.sale("inv-euro", 700, customer_key="user-1", currency="EUR")

    assert (await listed(sold, EVENTS)(ListQuery(1))).amounts == {"EUR": 700, "USD": 25_000}
    assert (await listed(sold, EVENTS, search="user-1")(ListQuery(1))).amounts == {"EUR": 700, "USD": 1_000}
    assert (await listed(sold, EVENTS, kind=EventKind.CLICK)(ListQuery(1))).amounts == {}


async def test_partners_are_sorted_by_what_they_brought_and_are_owed(sold: World, monkeypatch: pytest.MonkeyPatch):
    ids = {row.transaction_id: row.id for row in (await listed(sold, COMMISSIONS)(ListQuery())).data}
    for status in ("approved", "paid"):
        await sold.decide(status, ids["inv-0"], ids["inv-1"])
    await sold.refund("inv-1")
    await sold.decide("approved", *(ids[name] for name in ("inv-3", "inv-4", "inv-5")))
    most = await listed(sold, PARTNERS)(ListQuery(order=Order("to_pay_cents")))

    owed = [(9_000 - 3_000) // 5, (1_000 + 5_000 - 1_000) // 5]
    assert [(row.id, row.to_pay_cents) for row in most.data] == list(zip([sold.anna, sold.ben], owed, strict=True))
    assert [row.balance.to_pay_cents for row in most.data] == owed
    for is_ascending, order in ((False, [sold.anna, sold.ben]), (True, [sold.ben, sold.anna])):
        brought = await listed(sold, PARTNERS)(ListQuery(order=Order("revenue_cents", is_ascending)))
        assert [row.id for row in brought.data] == order
    assert (most.totals or {})["to_pay_cents"] == sum(owed)

    monkeypatch.setattr(listed_partners, "MOST_ROWS", 3)
    assert "to_pay_cents" not in ((await listed(sold, PARTNERS)(ListQuery())).totals or {})


async def test_rows_are_found_by_text_status_and_hold(sold: World):
    found: list[tuple[List[Any], dict[str, int]]] = [
        (EVENTS, {"Anna": 10, "user-2": 3, "inv-3": 2, "nothing": 0}),
        (COMMISSIONS, {"inv-3": 1, "user-2": 1, "Ann": 3, "%": 0, "_nn": 0, "9" * 40: 0}),
        (CUSTOMERS, {"user-2": 1, "nobody": 0}),
        (PARTNERS, {"BE": 1}),
    ]
    await sold.do(partners.change, sold.ben, {"status": PartnerStatus.PAUSED})

    for wanted, texts in found:
        assert {text: len((await listed(sold, wanted, search=text)(ListQuery())).data) for text in texts} == texts
    for match, number in (({"status": CommissionStatus.PAID}, 0), ({"ready_at": NOW}, 0), ({"ready_at": LATER}, 7)):
        assert len((await listed(sold, COMMISSIONS, **match)(ListQuery())).data) == number
    paused = await listed(sold, PARTNERS, status=PartnerStatus.PAUSED)(ListQuery())
    assert [each.code for each in paused.data] == ["ben"]
    filters: list[dict[str, Any]] = [{"status": "lead"}, {"customer_key": "user-2"}, {"partner_id": sold.anna}]
    assert [len((await listed(sold, CUSTOMERS, **each)(ListQuery())).data) for each in filters] == [0, 1, 3]
    [user_3] = (await listed(sold, CUSTOMERS, customer_key="user-3")(ListQuery())).data
    filters = [{"customer_id": user_3.id}, {"transaction_id": "inv-3"}, {"partner_id": sold.anna}, {"kind": "sale"}]
    filters += [{"text": "100%"}, {"text": "1%0"}, {"caller": "shop/1 ab12"}, {"test": True}]
    numbers = [len((await listed(sold, EVENTS, **each)(ListQuery())).data) for each in filters]
    assert numbers == [4, 2, 10, 7, 1, 0, 1, 0]


async def test_the_next_page_follows_a_row_that_matches_no_more_and_too_many_rows_are_sorted_by_time_without_totals(
    sold: World, monkeypatch: pytest.MonkeyPatch
):
    by_worth, pending = Order("net_cents"), listed(sold, COMMISSIONS, status=CommissionStatus.PENDING)
    first = await pending(ListQuery(2, order=by_worth))
    await sold.decide("approved", *(row.id for row in first.data))

    second = await pending(ListQuery(9, first.next_cursor, by_worth))
    monkeypatch.setattr(engine, "MOST_ROWS", 6)
    many = await listed(sold, COMMISSIONS)(ListQuery(order=by_worth))

    assert len(second.data) == 5
    assert (many.totals, many.order) == (None, NEWEST_FIRST)
    assert [row.id for row in many.data] == sorted((row.id for row in many.data), reverse=True)
