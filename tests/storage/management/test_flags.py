"""The fraud review finds seeded abuse of every kind; ordinary behaviour is not found, and one finding is one flag."""

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import insert

from storage import tables
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.commissions import COMMISSIONS
from storage.lists.flags import sum_by_kind
from storage.lists.partners import PARTNERS
from storage.management import fraud_review
from storage.rules import contact
from storage.rules.errors import IdentifierConflict
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.tracking import flagging
from tests.storage.management.reviewed import ANNA, HOUR, JANE, buyer, decide, earned, listed, network, review
from tests.world import NOW, World, stored


async def test_customers_of_one_source_and_existing_ones_are_found_and_ordinary_ones_are_not(shop: World):
    for number in range(6):
        name = f"one+{number}" if number < 3 else f"user-{number}"
        await buyer(shop, number, known=contact.protect(f"{name}@mail.example"))
    for number in range(10, 15):
        await buyer(shop, number, address_hash=network("one"))
    await buyer(shop, 20, code="ben", known=JANE)
    await buyer(shop, 21, clicked=NOW + timedelta(days=5), known=JANE)

    found = {(flag.kind, flag.evidence.get("same"), flag.customers, *flag.customer_keys) for flag in await review(shop)}

    many = FlagKind.MANY_CUSTOMERS_ONE_SOURCE
    assert found == {
        (many, "email", 3, *(f"user-{number}" for number in range(3))),
        (many, "address", 5, *(f"user-{number}" for number in range(10, 15))),
        (FlagKind.EXISTING_CUSTOMER, None, 1, "user-21"),
    }


@pytest.mark.both_databases
async def test_a_finding_about_several_customers_is_one_flag_with_all_that_it_holds_and_one_decision(shop: World):
    for number in range(5):
        await buyer(shop, number, address_hash=network("one"))
    [first] = await review(shop)
    await buyer(shop, 5, address_hash=network("one"))
    await buyer(shop, 20, code="ben")
    [flag] = await review(shop)
    worth = {each.customer_key: each.net_cents for each in await earned(shop)}
    [group] = await shop.store.read(sum_by_kind, shop.program_id, FlagState.OPEN)

    assert (first.id, first.customers, flag.customers) == (flag.id, 5, 6)
    assert (flag.commissions, flag.held_cents) == (6, sum(worth.values()) - worth["user-20"])
    assert group == (shop.anna, "Anna", flag.kind, 1, 6, flag.commissions, flag.held_cents)
    assert {each.code: each.open_flags for each in (await shop.listed(PARTNERS)).data} == {"anna": 1, "ben": 0}
    held = (await shop.listed(COMMISSIONS, flag_id=flag.id)).data
    assert sorted(each.customer_key for each in held) == list(flag.customer_keys)
    assert [entry.action for entry in (await shop.listed(AUDIT_LOG)).data].count("flag.raise") == 2

    dismissed = await decide(shop, flag, FlagState.DISMISSED)
    await buyer(shop, 6, address_hash=network("one"))
    [again, before] = await review(shop)

    assert (before, dismissed.customers, dismissed.commissions) == (dismissed, 6, 0)
    assert (again.state, again.customer_keys, again.commissions) == (FlagState.OPEN, ["user-6"], 1)
    assert {each.customer_key for each in await earned(shop) if each.flags} == {"user-6"}


async def test_a_click_that_came_with_many_customer_keys_is_found(shop: World):
    await buyer(shop, 1)
    click_id = await shop.visitor()
    await shop.lead(click_id, "victim-0", at=NOW + HOUR)
    await shop.sale("inv-2", customer_key="victim-0", at=NOW + HOUR)
    for number in range(1, 4):
        await shop.reject(IdentifierConflict(), customer_key=f"victim-{number}", click_id=click_id, at=NOW + 2 * HOUR)

    (flag,) = await review(shop)
    assert (flag.kind, flag.evidence) == (FlagKind.SHARED_CLICK, {"customer_keys": 4})


async def test_stuffed_cookies_and_forbidden_search_ads_are_found_by_the_customers_they_led_to(shop: World):
    await shop.change(paid_ads="forbidden")
    for number in range(5):
        await buyer(shop, number, lead_at=NOW + timedelta(seconds=3))
        await buyer(shop, 10 + number, code="ben", visitor='{"viewport_size":"1x1"}')
    await buyer(shop, 20, code="ben", address_hash=None, referrer_host="www.search.example", ad_markers="gclid")

    found = {(flag.kind, *flag.customer_keys) for flag in await review(shop)}
    stuffed = {(FlagKind.COOKIE_STUFFING, *(f"user-{start + n}" for n in range(5))) for start in (0, 10)}
    assert found == stuffed | {(FlagKind.BRAND_BIDDING, "user-20")}


@pytest.mark.both_databases
async def test_a_flood_is_dropped_from_the_figures_and_holds_only_what_it_led_to(shop: World):
    flood = network("flood")
    await buyer(shop, 1)
    await buyer(shop, 2, address_hash=flood)
    for _ in range(129):
        await shop.click(address_hash=flood)
        await shop.click("ben", address_hash=network("bots"), filtered="bot")

    (flag,) = await review(shop)
    await shop.click(address_hash=flood)
    assert await review(shop) == [flag]

    assert (flag.kind, flag.partner_id, flag.customer_key) == (FlagKind.CLICK_FLOODING, shop.anna, "user-2")
    assert {each.customer_key: list(each.flags) for each in await earned(shop)} == {"user-1": [], "user-2": [flag.kind]}
    assert sum(count for (count,) in await stored(shop, tables.partner_rollups.c.clicks)) == 1


@pytest.mark.wrong_books
async def test_unusual_rates_are_found(shop: World):
    async def kinds() -> set[FlagKind]:
        return {flag.kind for flag in await review(shop) if flag.partner_id == shop.anna}

    for number in range(6):
        await buyer(shop, number)
        await shop.refund(f"inv-{number}", at=NOW + 30 * HOUR)
    for number in range(100, 120):
        await buyer(shop, number, code="ben")
    day = {"program_id": shop.program_id, "day": NOW.date() - timedelta(days=2)}
    rows = [{**day, "partner_id": each, "clicks": clicks} for each, clicks in ((shop.ben, 2_000), (shop.anna, 300))]
    await shop.store.write(lambda connection: connection.execute(insert(tables.partner_rollups), rows).rowcount)
    assert await kinds() == {FlagKind.UNUSUAL_REFUND_RATE}

    for number in range(6, 20):
        await buyer(shop, number)
    assert FlagKind.UNUSUAL_CONVERSION_RATE in await kinds()


@pytest.mark.both_databases
async def test_a_flag_is_raised_once_by_whoever_reviews_and_listed(shop: World):
    await buyer(shop, 1, known=ANNA)
    recent = partial(shop.store.read, fraud_review.recent, shop.program_id, since=NOW - HOUR)
    found = [(shop.program_id, each) for each in await recent()]

    raised = [await shop.store.write(flagging.raise_each, found, at=NOW) for _ in range(2)]

    assert (raised, await recent()) == ([1, 0], [])
    [flag] = await review(shop)
    assert await listed(shop, state=FlagState.OPEN, partner_id=shop.anna) == [flag]
    assert await listed(shop, state=FlagState.DISMISSED) == await listed(shop, partner_id=shop.ben) == []
