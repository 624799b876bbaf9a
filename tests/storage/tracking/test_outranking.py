"""A lead with the key takes its customer_key from a browser's claim, on each database and within one batch."""

import asyncio

import pytest

from storage import Storage
from storage.checks import books
from storage.engine.audit import OPERATOR
from storage.management.commissions import decide
from storage.rules.commission import CommissionStatus
from storage.rules.errors import AttributionWindowExpired, CustomerNotFound
from storage.rules.settlement import LeadAuthPolicy, Settlement
from storage.tables import commissions, customers, leads, partner_rollups
from storage.tracking import ledger
from tests import world
from tests.world import NOW, World, stored

pytestmark = pytest.mark.anyio
CLAIM = {"is_trusted": False}


@pytest.fixture
async def acme(store: Storage) -> World:
    """Acme's program trusts browsers and pays 5.00 for a lead."""
    terms = {"lead_auth_policy": LeadAuthPolicy.BROWSER_ALLOWED, "lead_commission_cents": 500, "hold_days": 0}
    return await world.acme(store, **terms)


async def test_the_claim_loses_its_key_its_count_and_its_commission(acme: World):
    thief, victim = await acme.visitor("ben"), await acme.visitor("anna")
    await acme.lead(thief, "user-1", **CLAIM)

    led = await acme.lead(victim, "user-1")

    assert led.recorded
    assert set(await stored(acme, customers.c.click_id, customers.c.customer_key)) == {
        (thief, None),
        (victim, "user-1"),
    }
    assert set(await stored(acme, leads.c.partner_id, leads.c.settlement)) == {
        (acme.ben, Settlement.OUTRANKED),
        (acme.anna, Settlement.SETTLED),
    }
    assert set(await stored(acme, partner_rollups.c.partner_id, partner_rollups.c.leads)) == {
        (acme.ben, 0),
        (acme.anna, 1),
    }
    assert (await acme.store.read(ledger.balance, acme.program_id, acme.ben)).owed_cents == 0
    assert await acme.store.read(books.run) == []


async def test_a_paid_commission_on_a_claim_is_owed_back(acme: World):
    await acme.lead(await acme.visitor("ben"), "user-1", **CLAIM)
    [(claim,)] = await stored(acme, commissions.c.id)
    for status in (CommissionStatus.APPROVED, CommissionStatus.PAID):
        await acme.store.write(decide, acme.program_id, claim, status, actor=OPERATOR, at=NOW)

    await acme.lead(await acme.visitor("anna"), "user-1")

    assert (await acme.store.read(ledger.balance, acme.program_id, acme.ben)).owed_cents == -500
    assert await acme.store.read(books.run) == []


async def test_claims_and_leads_of_one_batch_end_with_the_lead(acme: World):
    visitors = [(await acme.visitor("ben"), await acme.visitor("anna"), f"user-{n}") for n in range(4)]

    await asyncio.gather(
        *(acme.lead(thief, key, **CLAIM) for thief, _, key in visitors),
        *(acme.lead(victim, key) for _, victim, key in visitors),
    )

    named = await stored(acme, customers.c.customer_key, customers.c.partner_id)
    assert {each for each in named if each[0]} == {(key, acme.anna) for _, _, key in visitors}
    assert await acme.store.read(books.run) == []


async def test_an_expired_click_outranks_nothing(acme: World):
    late = NOW.replace(month=9)
    expired, fresh = await acme.visitor("anna"), await acme.visitor("ben", at=late)
    await acme.lead(fresh, "user-1", at=late, **CLAIM)

    led = await acme.lead(expired, "user-1", at=late)

    assert not led.recorded
    with pytest.raises(AttributionWindowExpired):
        await acme.lead(expired, "user-2", at=late)


async def test_without_the_key_a_customer_key_finds_nobody(acme: World):
    await acme.customer("user-1")

    with pytest.raises(CustomerNotFound):
        await acme.lead(None, "user-1", **CLAIM)
