"""The server's lead or sale takes a customer_key from a browser's claim, on each database and within one batch."""

import asyncio

import pytest

from storage import Storage
from storage.checks import books
from storage.diagnosis import explanation
from storage.engine.audit import OPERATOR
from storage.management import partners
from storage.management.commissions import decide
from storage.rules.attribution import PartnerStatus
from storage.rules.commission import CommissionStatus
from storage.rules.errors import AttributionWindowExpired, CustomerNotAttributed, CustomerNotFound, IdentifierConflict
from storage.rules.settlement import LeadAuthPolicy, Settlement
from storage.tables import commissions, customers, leads, partner_rollups, sales
from storage.tracking import ledger
from tests import world
from tests.world import NOW, World, stored

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


KEY = "user-105"


@pytest.fixture
async def claimed(store: Storage) -> World:
    """Acme's program trusts browsers and pays 5.00 for a lead; a stranger sent by Ben has claimed user-105."""
    claimed = await world.acme(store, lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED, lead_commission_cents=500)
    await claimed.lead(await claimed.visitor("ben"), KEY, **CLAIM)
    return claimed


async def owed(claimed: World, partner_id: int) -> int:
    return int((await claimed.store.read(ledger.balance, claimed.program_id, partner_id)).owed_cents)


async def test_the_partner_of_the_named_click_is_paid_and_the_claim_counts_nowhere(claimed: World):
    sold = await claimed.sale(click_id=await claimed.visitor("anna"), customer_key=KEY)

    counted = (partner_rollups.c.partner_id, partner_rollups.c.leads, partner_rollups.c.conversions)
    assert sold.customer_key_saved
    assert await stored(claimed, sales.c.partner_id) == [(claimed.anna,)]
    assert (await owed(claimed, claimed.anna), await owed(claimed, claimed.ben)) == (2_000, 0)
    assert await stored(claimed, leads.c.partner_id, leads.c.settlement) == [(claimed.ben, Settlement.OUTRANKED)]
    assert set(await stored(claimed, *counted)) == {(claimed.ben, 0, 0), (claimed.anna, 0, 1)}
    assert await claimed.store.read(books.run) == []


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_the_named_click_may_have_a_customer_without_a_key(claimed: World, is_trusted: bool):  # noqa: FBT001 - the cases
    click_id = await claimed.visitor("anna")
    await claimed.lead(click_id, is_trusted=is_trusted)

    await claimed.sale(click_id=click_id, customer_key=KEY)

    named = await stored(claimed, customers.c.customer_key, customers.c.partner_id)
    assert set(named) == {(None, claimed.ben), (KEY, claimed.anna)}
    assert await claimed.store.read(books.run) == []


async def test_the_key_finds_the_buyer_afterwards_and_no_browser_claims_it_again(claimed: World):
    await claimed.sale(click_id=await claimed.visitor("anna"), customer_key=KEY)

    await claimed.lead(await claimed.visitor("ben"), KEY, **CLAIM)
    await claimed.sale("inv-2", customer_key=KEY)

    assert await stored(claimed, sales.c.partner_id) == [(claimed.anna,), (claimed.anna,)]
    assert await claimed.store.read(books.run) == []


async def test_claims_and_sales_of_one_batch_end_with_the_sale(claimed: World):
    visitors = [(await claimed.visitor("ben"), await claimed.visitor("anna"), f"user-{n}") for n in range(4)]
    await asyncio.gather(*(claimed.lead(thief, key, **CLAIM) for thief, _, key in visitors))

    await asyncio.gather(
        *(
            claimed.sale(f"inv-{key}-{n}", click_id=click, customer_key=key)
            for _, click, key in visitors
            for n in (1, 2)
        )
    )

    assert await stored(claimed, sales.c.partner_id) == [(claimed.anna,)] * 8
    assert await claimed.store.read(books.run) == []


async def test_a_key_that_the_server_confirmed_conflicts_with_the_click_of_another_customer(claimed: World):
    await claimed.customer("user-7", "anna")
    other = await claimed.visitor("ben")
    await claimed.lead(other, "user-8")

    with pytest.raises(IdentifierConflict):
        await claimed.sale(click_id=other, customer_key="user-7")


async def test_a_claim_that_a_sale_confirmed_conflicts_with_the_click_of_another_customer(claimed: World):
    await claimed.sale(customer_key=KEY)
    other = await claimed.visitor("anna")
    await claimed.lead(other)

    with pytest.raises(IdentifierConflict):
        await claimed.sale("inv-2", click_id=other, customer_key=KEY)


async def test_a_rejected_sale_leaves_the_claim_as_it_was(claimed: World):
    click_id = await claimed.visitor("anna")
    inactive = {"status": PartnerStatus.INACTIVE}
    await claimed.store.write(partners.change, claimed.program_id, claimed.anna, inactive, actor=OPERATOR, at=NOW)

    with pytest.raises(CustomerNotAttributed):
        await claimed.sale(click_id=click_id, customer_key=KEY)

    assert await stored(claimed, leads.c.settlement) == [(Settlement.SETTLED,)]
    assert await claimed.store.read(books.run) == []


async def test_explain_says_that_the_server_outranked_the_claim(claimed: World):
    await claimed.sale(click_id=await claimed.visitor("anna"), customer_key=KEY)

    explained = await claimed.store.read(explanation.explain, claimed.program_id, customer_key=KEY, at=NOW)

    [lead] = [step for step in explained.steps if step.step == "lead"]
    assert lead.text.endswith("What your server sent outranks 1 leads that browsers sent with this customer_key.")
    assert lead.facts["outranked_partner_codes"] == ["ben"]
