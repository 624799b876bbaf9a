"""The fraud review finds seeded abuse of every kind; its flags hold commissions until a person has decided."""

from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any

import pytest
from sqlalchemy import insert, update

from storage import tables
from storage.checks import books
from storage.engine import ids
from storage.engine.audit import Actor
from storage.lists.audit_log import AUDIT_LOG
from storage.lists.commissions import COMMISSIONS
from storage.lists.declaration import ListScope
from storage.lists.find import get
from storage.lists.flags import FLAGS, Flag
from storage.lists.partners import PARTNERS
from storage.management import commission_decisions, flag_decisions, fraud_review, program_settings
from storage.management.pending_work import Waiting
from storage.rules import contact
from storage.rules.click_details import ClickDetails
from storage.rules.commission import CommissionStatus
from storage.rules.errors import CommissionFlagged, IdentifierConflict, NotFound, ValidationError
from storage.rules.fraud.flag import Finding, FlagKind, FlagState
from tests.storage.databases import both_databases
from tests.world import NOW, World, stored

ANNA, JANE = (contact.protect(email) for email in ("Anna+Shop@Partners.example", "jane@mail.example"))
HOUR, LATER = timedelta(hours=1), NOW + timedelta(days=30)
OWNER = Actor("user", "1", "owner@acme.example")
CONFIRMED = ["user-1 pending", "user-1 rejected", "user-1 rejected", "user-2 pending"]


@pytest.fixture
async def shop(acme: World) -> World:
    mine = update(tables.partners).where(tables.partners.c.id == acme.anna).values(email="Anna@Partners.example")
    await acme.store.write(lambda connection: connection.execute(mine).rowcount)
    return acme


def network(name: str) -> ClickDetails:
    return ClickDetails(address_hash=f"{name:0>24}")


async def buyer(shop: World, number: int, *, code: str = "anna", clicked: datetime = NOW, **fields: Any) -> None:
    """Have a customer of Anna's sign up an hour after the click and buy a day later."""
    details, visitor = fields.get("details", network(str(number))), fields.get("visitor")
    click_id = await shop.visitor(code, at=clicked, details=details, visitor=visitor)
    await shop.lead(click_id, f"user-{number}", at=fields.get("lead_at", clicked + HOUR), contact=fields.get("known"))
    await shop.sale(f"inv-{number}", customer_key=f"user-{number}", at=clicked + 24 * HOUR)


async def review(shop: World) -> list[Flag]:
    """Review all as the worker does, and return the flags."""
    since, at = NOW - timedelta(days=400), NOW + 2 * HOUR
    floods = await shop.store.read(fraud_review.find_floods, shop.program_id, at=at)
    await shop.store.write(fraud_review.drop_floods, shop.program_id, floods)
    found = await shop.store.read(fraud_review.whole, shop.program_id, since=since, at=at)
    await shop.store.write(fraud_review.raise_flags, shop.program_id, found, at=at)
    return await listed(shop)


async def listed(shop: World, **filters: Any) -> list[Flag]:
    return (await shop.listed(FLAGS, **filters)).data


async def earned(shop: World) -> Any:
    return (await shop.listed(COMMISSIONS)).data


async def approve(shop: World, commission_id: Any, status: CommissionStatus = CommissionStatus.APPROVED) -> Any:
    decision = (shop.program_id, commission_id, status)
    return await shop.store.write(commission_decisions.decide, *decision, actor=OWNER, at=LATER)


async def decide(shop: World, flag: Flag, state: FlagState, reason: str | None = None) -> Any:
    about: dict[str, Any] = {"actor": OWNER, "at": LATER, "reason": reason}
    return await shop.store.write(flag_decisions.decide, shop.program_id, flag.id, state, **about)


async def own_purchase(shop: World) -> Flag:
    await buyer(shop, 1, known=ANNA)
    return (await review(shop))[0]


async def test_customers_of_one_source_and_existing_ones_are_found_and_ordinary_ones_are_not(shop: World):
    for number in range(6):
        name = f"one+{number}" if number < 3 else f"user-{number}"
        await buyer(shop, number, known=contact.protect(f"{name}@mail.example"))
    for number in range(10, 15):
        await buyer(shop, number, details=network("one"))
    await buyer(shop, 20, code="ben", known=JANE)
    await buyer(shop, 21, clicked=NOW + timedelta(days=5), known=JANE)

    found = {(flag.kind, flag.evidence.get("same"), flag.customer_key) for flag in await review(shop)}

    many = FlagKind.MANY_CUSTOMERS_ONE_SOURCE
    same = {(many, "email", f"user-{number}") for number in range(3)}
    same |= {(many, "address", f"user-{number}") for number in range(10, 15)}
    assert found == same | {(FlagKind.EXISTING_CUSTOMER, None, "user-21")}


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
    await shop.store.write(program_settings.change, shop.program_id, {"paid_ads": "forbidden"}, actor=OWNER, at=NOW)
    for number in range(5):
        await buyer(shop, number, lead_at=NOW + timedelta(seconds=3))
        await buyer(shop, 10 + number, code="ben", visitor='{"viewport_size":"1x1"}')
    await buyer(shop, 20, code="ben", details=ClickDetails("www.search.example", "gclid", None))

    found = [(flag.kind, flag.customer_key) for flag in await review(shop)]
    stuffed = [(FlagKind.COOKIE_STUFFING, f"user-{number}") for number in (*range(5), *range(10, 15))]
    assert sorted(found) == sorted([*stuffed, (FlagKind.BRAND_BIDDING, "user-20")])


@both_databases
async def test_a_flood_is_dropped_from_the_figures_and_holds_only_what_it_led_to(shop: World):
    flood = network("flood")
    await buyer(shop, 1)
    await buyer(shop, 2, details=flood)
    for _ in range(129):
        await shop.click(details=flood)
        await shop.click("ben", details=network("bots"), filtered="bot")

    (flag,) = await review(shop)
    await shop.click(details=flood)
    assert await review(shop) == [flag]

    assert (flag.kind, flag.partner_id, flag.customer_key) == (FlagKind.CLICK_FLOODING, shop.anna, "user-2")
    assert {each.customer_key: list(each.flags) for each in await earned(shop)} == {"user-1": [], "user-2": [flag.kind]}
    assert sum(count for (count,) in await stored(shop, tables.partner_rollups.c.clicks)) == 1
    assert await shop.store.read(books.run) == []


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


@both_databases
async def test_a_flag_is_found_before_a_decision_raised_once_by_whoever_reviews_and_listed(shop: World):
    await buyer(shop, 1, known=ANNA)
    (commission,) = await earned(shop)
    before_decision = partial(fraud_review.before_decision, program_id=shop.program_id)
    just_reported = await shop.store.read(before_decision, commission_ids=[commission.id])
    since = NOW - HOUR
    found = await shop.store.read(fraud_review.recent, shop.program_id, since=since)

    raised = [await shop.store.write(fraud_review.raise_flags, shop.program_id, found, at=NOW) for _ in range(2)]

    assert [each.kind for each in just_reported] == [FlagKind.SELF_REFERRAL]
    assert await shop.store.read(before_decision, commission_ids=[ids.first(NOW)]) == []
    assert raised == [1, 0]
    assert await shop.store.read(fraud_review.recent, shop.program_id, since=since) == []
    [flag] = await review(shop)
    assert await listed(shop, state=FlagState.OPEN, partner_id=shop.anna) == [flag]
    assert await listed(shop, state=FlagState.DISMISSED) == await listed(shop, partner_id=shop.ben) == []
    with pytest.raises(NotFound):
        await shop.store.read(get, FLAGS, ListScope(shop.program_id + 1, NOW), flag.id)
    shown = (await shop.listed(PARTNERS)).data
    assert {each.id: each.open_flags for each in shown} == {shop.anna: 1, shop.ben: 0}


async def test_a_flag_holds_the_commission_until_it_is_dismissed_and_is_decided_once(shop: World):
    flag = await own_purchase(shop)
    (commission,) = await earned(shop)
    assert (flag.kind, flag.state, flag.evidence) == (FlagKind.SELF_REFERRAL, FlagState.OPEN, {"same": "email"})
    assert (flag.partner_id, flag.customer_key, flag.commission_id) == (shop.anna, "user-1", commission.id)
    with pytest.raises(CommissionFlagged) as rejected:
        await approve(shop, flag.commission_id)
    assert rejected.value.details == {"flags": ["self_referral"]}

    dismissed = await decide(shop, flag, FlagState.DISMISSED, "She may.")

    assert (dismissed.decided_by, dismissed.decision_reason) == (OWNER.name, "She may.")
    assert (await approve(shop, flag.commission_id)).status == CommissionStatus.APPROVED
    assert await review(shop) == [dismissed]
    assert (await decide(shop, flag, FlagState.DISMISSED)).state == FlagState.DISMISSED
    for state in (FlagState.CONFIRMED, FlagState.OPEN):
        with pytest.raises(ValidationError):
            await decide(shop, flag, state)


async def test_confirming_rejects_what_is_not_paid_holds_later_sales_and_is_in_the_audit_log(shop: World):
    flag = await own_purchase(shop)
    await shop.sale("inv-9", customer_key="user-1", at=NOW + 30 * HOUR)

    async def held() -> Waiting:
        return await shop.store.read(flag_decisions.count_held, shop.program_id, flag.id, at=NOW)

    assert await held() == Waiting(2, sum(each.net_cents for each in await earned(shop)))

    await buyer(shop, 2)
    await decide(shop, flag, FlagState.CONFIRMED, "Her own account.")
    assert await held() == Waiting()
    later = await shop.sale("inv-10", customer_key="user-1", at=NOW + 40 * HOUR)

    assert sorted(f"{each.customer_key} {each.status}" for each in await earned(shop)) == CONFIRMED
    cents = sum(cents for (cents,) in await stored(shop, tables.ledger_entries.c.amount_cents))
    assert cents == later.commission_cents * 2  # the other customer's, too
    with pytest.raises(CommissionFlagged):
        await approve(shop, later.commission_id)
    entries = (await shop.listed(AUDIT_LOG)).data
    decided = [("flag", "state", "confirmed"), ("flag", "reason", "Her own account.")]
    decided += [("commission", "status", "rejected"), ("commission", "flag", f"{flag.id} self_referral")] * 2
    logged = [(entry.actor.type, entry.action, entry.field, entry.after) for entry in reversed(entries)]
    assert logged[-7] == ("service", "flag.raise", "kind", "self_referral")
    assert logged[-6:] == [("user", f"{what}.decide", field, after) for what, field, after in decided]


async def test_a_flag_on_a_partner_holds_what_was_earned_since_then_unless_clicks_alone_show_it(shop: World):
    await buyer(shop, 1, clicked=NOW - timedelta(days=60))
    await buyer(shop, 2, clicked=NOW - 23 * HOUR)
    kinds = (FlagKind.UNUSUAL_REFUND_RATE, FlagKind.UNUSUAL_CONVERSION_RATE)
    found = [Finding(kind, "partner", shop.anna, NOW - 24 * HOUR, {}) for kind in kinds]
    await shop.store.write(fraud_review.raise_flags, shop.program_id, found, at=NOW)
    assert [list(each.flags) for each in await earned(shop)] == [[FlagKind.UNUSUAL_REFUND_RATE], []]

    for flag in sorted(await listed(shop), key=attrgetter("kind")):
        assert {each.status for each in await earned(shop)} == {CommissionStatus.PENDING}
        await decide(shop, flag, FlagState.CONFIRMED)
    assert [each.status for each in await earned(shop)] == [CommissionStatus.REJECTED, CommissionStatus.PENDING]
