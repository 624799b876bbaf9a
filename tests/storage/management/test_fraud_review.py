"""The fraud review: seeded abuse of every kind is found in what the service recorded."""

from datetime import timedelta

from sqlalchemy import Connection, insert

from storage.management import commissions, program_settings
from storage.rules import contact
from storage.rules.attribution import PaidAds
from storage.rules.click_details import ClickDetails
from storage.rules.errors import IdentifierConflict
from storage.rules.fraud.flag import FlagKind, FlagState
from storage.tables import partner_rollups
from tests.storage.management.abuse import HOUR, OWNER, buyer, network, own_purchase, review
from tests.world import NOW, World


async def test_a_self_referral_is_found_with_its_reason_and_its_commission(shop: World):
    flag = await own_purchase(shop)

    (earned,) = (await shop.store.read(commissions.list_commissions, shop.program_id)).data
    assert (flag.kind, flag.state, flag.evidence) == (FlagKind.SELF_REFERRAL, FlagState.OPEN, {"same": "email"})
    assert (flag.partner_id, flag.customer_key, flag.commission_id) == (shop.anna, "user-1", earned.id)
    assert "e-mail address" in flag.reason


async def test_three_customers_with_one_e_mail_address_are_found_and_ordinary_ones_are_not(shop: World):
    for number in range(6):
        name = "one" if number < 3 else f"user-{number}"
        await buyer(shop, number, known=contact.protect(f"{name}@mail.example"))

    found = await review(shop)
    assert {flag.kind for flag in found} == {FlagKind.MANY_CUSTOMERS_ONE_SOURCE}
    assert sorted(str(flag.customer_key) for flag in found) == ["user-0", "user-1", "user-2"]


async def test_five_customers_from_one_network_are_found(shop: World):
    for number in range(5):
        await buyer(shop, number, details=network("one"))

    assert {(flag.kind, flag.evidence["same"]) for flag in await review(shop)} == {
        (FlagKind.MANY_CUSTOMERS_ONE_SOURCE, "address")
    }


async def test_an_existing_customer_is_found_across_partners(shop: World):
    known = contact.protect("jane@mail.example")
    await buyer(shop, 1, code="ben", known=known)
    await buyer(shop, 2, clicked=NOW + timedelta(days=5), known=known)

    (flag,) = await review(shop)
    assert (flag.kind, flag.customer_key, flag.partner_id) == (FlagKind.EXISTING_CUSTOMER, "user-2", shop.anna)


async def test_a_click_that_came_with_many_customer_keys_is_found(shop: World):
    await buyer(shop, 1)
    click_id = await shop.visitor()
    await shop.lead(click_id, "victim-0", at=NOW + HOUR)
    await shop.sale("inv-2", customer_key="victim-0", at=NOW + HOUR)
    for number in range(1, 4):
        await shop.reject(IdentifierConflict(), customer_key=f"victim-{number}", click_id=click_id, at=NOW + 2 * HOUR)

    (flag,) = await review(shop)
    assert (flag.kind, flag.evidence) == (FlagKind.SHARED_CLICK, {"customer_keys": 4})


async def test_stuffed_cookies_are_found_by_customers_within_seconds_and_by_hidden_windows(shop: World):
    for number in range(5):
        await buyer(shop, number, lead_at=NOW + timedelta(seconds=3))
    for _ in range(20):
        await shop.click("ben", visitor='{"viewport_size":"1x1"}')

    found = [flag for flag in await review(shop) if flag.kind == FlagKind.COOKIE_STUFFING]
    assert [flag.partner_id for flag in found if flag.customer_id is None] == [shop.ben]
    assert len([flag for flag in found if flag.partner_id == shop.anna]) == 5


async def test_a_flood_of_clicks_is_found_and_bots_are_not_counted(shop: World):
    for _ in range(101):
        await shop.click(details=network("flood"))
        await shop.click("ben", details=network("bots"), filtered="bot")

    (flag,) = await review(shop)
    assert (flag.kind, flag.partner_id, flag.evidence["clicks"]) == (FlagKind.CLICK_FLOODING, shop.anna, 101)


async def test_search_ads_are_found_where_the_program_forbids_them(shop: World):
    for _ in range(3):
        await shop.click(details=ClickDetails("www.search.example", "gclid", None))
    assert await review(shop) == []
    changes = {"paid_ads": PaidAds.FORBIDDEN}
    await shop.store.write(program_settings.change, shop.program_id, changes, actor=OWNER, at=NOW)

    (flag,) = await review(shop)
    assert (flag.kind, flag.evidence["ad_markers"]) == (FlagKind.BRAND_BIDDING, ["gclid"])


async def test_unusual_rates_are_found(shop: World):
    for number in range(6):
        await buyer(shop, number)
        await shop.refund(f"inv-{number}", at=NOW + 30 * HOUR)
    for number in range(100, 120):
        await buyer(shop, number, code="ben")
    await shop.store.write(_add_clicks, shop.program_id, {shop.ben: 2000, shop.anna: 300})
    kinds = {flag.kind for flag in await review(shop) if flag.partner_id == shop.anna}
    assert kinds == {FlagKind.UNUSUAL_REFUND_RATE}

    for number in range(6, 20):
        await buyer(shop, number)
    kinds = {flag.kind for flag in await review(shop) if flag.partner_id == shop.anna}
    assert FlagKind.UNUSUAL_CONVERSION_RATE in kinds


def _add_clicks(connection: Connection, program_id: int, counts: dict[int, int]) -> None:
    for partner_id, clicks in counts.items():
        row = {"program_id": program_id, "day": NOW.date() - timedelta(days=2), "partner_id": partner_id}
        connection.execute(insert(partner_rollups).values(**row, clicks=clicks))
