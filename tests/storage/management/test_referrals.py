"""Referrals on both databases: a partner's, for one customer, until they expire; they earn as a click does."""

import asyncio
import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from storage.engine.audit import AGENT_KEY, Actor
from storage.lists.audit_log import AUDIT_LOG
from storage.management import agent_caps, coupons, partners, referrals
from storage.rules import errors
from storage.tables import clicks, customers, rollups
from tests import stripe_events as stripe
from tests.storage.payments.paying import take
from tests.world import NOW, World, stored

AGENT = Actor(AGENT_KEY, "1", "Reporter")
EXPIRY = NOW + timedelta(hours=24)
JUST_BEFORE = EXPIRY - timedelta(seconds=1)


async def refer(acme: World, code: str = "anna", **about: Any) -> str:
    """Issue a referral, and return its click id."""
    sent = {"partner_code": code, "expires_in_hours": 24, "actor": AGENT, **about}
    return str((await acme.do(referrals.issue, **sent)).click_id)


async def state(acme: World, click_id: str, at: datetime = NOW) -> str:
    return str((await acme.store.read(referrals.verify, acme.program_id, click_id, at=at)).state)


@pytest.mark.both_databases
async def test_a_referral_earns_its_partner_what_a_click_does_and_counts_as_none(acme: World):
    click_id = await refer(acme, "ANNA.", campaign="spring", reason="Compared two shops")
    before = await state(acme, click_id)

    await acme.lead(click_id, "user-1")
    sold = await acme.sale(click_id=click_id, customer_key="user-1")

    assert (before, await state(acme, click_id), sold.commission_cents) == ("valid", "used", 2_000)
    assert await stored(acme, rollups.c.clicks, rollups.c.conversions) == [(0, 1)]
    [(dimensions,)] = await stored(acme, clicks.c.dimensions)
    assert json.loads(dimensions)["campaign"] == "spring"
    explained = await acme.explain(click_id=click_id)
    assert any("referral token" in each.text for each in explained.steps if each.step == "click")
    [entry] = (await acme.listed(AUDIT_LOG, action="partner.refer")).data
    assert (entry.actor_name, entry.subject_id) == ("Reporter", str(acme.anna))
    logged = {"click_id": click_id, "campaign": "spring", "reason": "Compared two shops"}
    assert entry.after == logged | {"expires_at": EXPIRY.isoformat()}


@pytest.mark.both_databases
async def test_a_referral_makes_a_customer_until_it_expires_and_names_them_from_then_on(acme: World):
    used, sold, late = [await refer(acme) for _ in range(3)]
    sale: dict[str, Any] = {"customer_key": "user-1", "click_id": used}
    await acme.lead(used, "user-1", at=JUST_BEFORE)

    await acme.sale("inv-1", **sale, at=EXPIRY + timedelta(days=20))
    await acme.sale("inv-2", **sale, at=EXPIRY + timedelta(days=200))
    await acme.sale("inv-3", click_id=sold, occurred_at=JUST_BEFORE, at=EXPIRY + timedelta(days=1))
    for call in (acme.lead(late, "user-2", at=EXPIRY), acme.sale("inv-4", click_id=late, at=EXPIRY)):
        with pytest.raises(errors.AttributionWindowExpired):
            await call

    assert len(await stored(acme, customers.c.id)) == 2
    explained = await acme.explain(EXPIRY, click_id=late)
    assert (await state(acme, late, EXPIRY), explained.text) == ("expired", "The referral token had expired.")


async def test_a_shorter_attribution_window_ends_a_referral_and_a_coupon_counts_after_it(acme: World):
    await acme.change(attribution_window_days=1)
    long, short = await refer(acme, expires_in_hours=720), await refer(acme, expires_in_hours=1)
    await acme.do(coupons.create, partner_id=acme.ben, code="SPRING20")

    await acme.sale(click_id=short, coupon_code="SPRING20", at=JUST_BEFORE)

    assert await stored(acme, customers.c.partner_id) == [(acme.ben,)]
    assert await state(acme, long, EXPIRY + timedelta(seconds=1)) == "expired"


@pytest.mark.both_databases
async def test_a_spent_referral_names_its_customer_with_their_key_alone(acme: World):
    guest, keyed = await refer(acme), await refer(acme)
    await acme.sale("inv-1", click_id=guest)
    await acme.sale("inv-2", click_id=keyed, customer_key="user-1")

    for click_id, key in ((guest, None), (guest, "user-9"), (keyed, None), (keyed, "user-9")):
        with pytest.raises(errors.IdentifierConflict):
            await acme.sale("inv-3", click_id=click_id, customer_key=key)

    again = await acme.sale("inv-3", click_id=keyed, customer_key="user-1")
    assert again.commission_cents == 2_000


@pytest.mark.both_databases
async def test_of_many_buyers_with_one_referral_at_once_one_is_credited(acme: World):
    click_id = await refer(acme)
    bought = [acme.sale(f"inv-{n}", click_id=click_id, customer_key=f"user-{n}") for n in range(5)]

    results = await asyncio.gather(*bought, return_exceptions=True)

    rejected = [type(each) for each in results if isinstance(each, errors.ServiceError)]
    assert rejected == [errors.IdentifierConflict] * 4


@pytest.mark.both_databases
async def test_the_processors_metadata_names_a_referral_for_one_account(acme: World):
    metadata = {"svc_click_id": await refer(acme)}
    paid = [("cus_1", 4_900), ("cus_1", 5_000), ("cus_2", 6_000), (None, 7_000)]
    events = [
        stripe.invoice(f"evt_{n}", name=f"in_{n}", metadata=metadata, customer=customer, amount=amount)
        for n, (customer, amount) in enumerate(paid)
    ]

    outcomes = [(await take(acme, event)).outcome for event in events]

    assert outcomes == ["recorded", "recorded", "identifier_conflict", "identifier_conflict"]


async def test_only_an_active_partner_of_an_active_program_is_referred_to(acme: World):
    click_id = await refer(acme)
    await acme.do(partners.change, acme.anna, {"status": "inactive"})
    with pytest.raises(errors.CustomerNotAttributed):
        await acme.sale(click_id=click_id)
    for code, error in (("nobody", errors.PartnerNotFound), ("anna", errors.ValidationError)):
        with pytest.raises(error):
            await refer(acme, code)
    await acme.change(status="paused")
    with pytest.raises(errors.ValidationError):
        await refer(acme, "ben")

    assert await state(acme, click_id) == "partner_inactive"


async def test_agents_issue_no_more_in_a_day_than_the_owner_allows(acme: World):
    await acme.do(agent_caps.change, {"referrals_in_a_day": 2, "commissions_in_a_day": 1})
    await refer(acme)
    await refer(acme)

    with pytest.raises(errors.OverCap) as over:
        await refer(acme)

    assert over.value.details == {"cap": "referrals_in_a_day"}
    await refer(acme, actor=Actor("user", str(acme.owner_id), "owner@acme.example"))
    await refer(acme, at=NOW + timedelta(days=1))
