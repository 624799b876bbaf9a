"""A sale with the key takes its customer_key from a browser's claim, on each database and within one batch."""

import asyncio

import pytest

from storage import Storage
from storage.checks import books
from storage.diagnosis import explanation
from storage.engine.audit import OPERATOR
from storage.management import partners
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import CustomerNotAttributed, IdentifierConflict
from storage.rules.settlement import LeadAuthPolicy, Settlement
from storage.tables import customers, leads, partner_rollups, sales
from storage.tracking import ledger
from tests import world
from tests.world import NOW, World, stored

pytestmark = pytest.mark.anyio
KEY = "user-105"
BROWSER = {"is_trusted": False}


@pytest.fixture
async def acme(store: Storage) -> World:
    """Acme's program trusts browsers and pays 5.00 for a lead; a stranger sent by Ben has claimed user-105."""
    acme = await world.acme(store, lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED, lead_commission_cents=500)
    await acme.lead(await acme.visitor("ben"), KEY, **BROWSER)
    return acme


async def owed(acme: World, partner_id: int) -> int:
    return int((await acme.store.read(ledger.balance, acme.program_id, partner_id)).owed_cents)


async def test_the_partner_of_the_named_click_is_paid_and_the_claim_counts_nowhere(acme: World):
    sold = await acme.sale(click_id=await acme.visitor("anna"), customer_key=KEY)

    counted = (partner_rollups.c.partner_id, partner_rollups.c.leads, partner_rollups.c.conversions)
    assert sold.customer_key_saved
    assert await stored(acme, sales.c.partner_id) == [(acme.anna,)]
    assert (await owed(acme, acme.anna), await owed(acme, acme.ben)) == (2_000, 0)
    assert await stored(acme, leads.c.partner_id, leads.c.settlement) == [(acme.ben, Settlement.OUTRANKED)]
    assert set(await stored(acme, *counted)) == {(acme.ben, 0, 0), (acme.anna, 0, 1)}
    assert await acme.store.read(books.run) == []


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_the_named_click_may_have_a_customer_without_a_key(acme: World, is_trusted: bool):  # noqa: FBT001 - the cases
    click_id = await acme.visitor("anna")
    await acme.lead(click_id, is_trusted=is_trusted)

    await acme.sale(click_id=click_id, customer_key=KEY)

    named = await stored(acme, customers.c.customer_key, customers.c.partner_id)
    assert set(named) == {(None, acme.ben), (KEY, acme.anna)}
    assert await acme.store.read(books.run) == []


async def test_the_key_finds_the_buyer_afterwards_and_no_browser_claims_it_again(acme: World):
    await acme.sale(click_id=await acme.visitor("anna"), customer_key=KEY)

    await acme.lead(await acme.visitor("ben"), KEY, **BROWSER)
    await acme.sale("inv-2", customer_key=KEY)

    assert await stored(acme, sales.c.partner_id) == [(acme.anna,), (acme.anna,)]
    assert await acme.store.read(books.run) == []


async def test_claims_and_sales_of_one_batch_end_with_the_sale(acme: World):
    visitors = [(await acme.visitor("ben"), await acme.visitor("anna"), f"user-{n}") for n in range(4)]
    await asyncio.gather(*(acme.lead(thief, key, **BROWSER) for thief, _, key in visitors))

    await asyncio.gather(
        *(acme.sale(f"inv-{key}-{n}", click_id=click, customer_key=key) for _, click, key in visitors for n in (1, 2))
    )

    assert await stored(acme, sales.c.partner_id) == [(acme.anna,)] * 8
    assert await acme.store.read(books.run) == []


async def test_a_key_that_the_server_confirmed_conflicts_with_the_click_of_another_customer(acme: World):
    await acme.customer("user-7", "anna")
    other = await acme.visitor("ben")
    await acme.lead(other, "user-8")

    with pytest.raises(IdentifierConflict):
        await acme.sale(click_id=other, customer_key="user-7")


async def test_a_claim_that_a_sale_confirmed_conflicts_with_the_click_of_another_customer(acme: World):
    await acme.sale(customer_key=KEY)
    other = await acme.visitor("anna")
    await acme.lead(other)

    with pytest.raises(IdentifierConflict):
        await acme.sale("inv-2", click_id=other, customer_key=KEY)


async def test_a_rejected_sale_leaves_the_claim_as_it_was(acme: World):
    click_id = await acme.visitor("anna")
    inactive = {"status": PartnerStatus.INACTIVE}
    await acme.store.write(partners.change, acme.program_id, acme.anna, inactive, actor=OPERATOR, at=NOW)

    with pytest.raises(CustomerNotAttributed):
        await acme.sale(click_id=click_id, customer_key=KEY)

    assert await stored(acme, leads.c.settlement) == [(Settlement.SETTLED,)]
    assert await acme.store.read(books.run) == []


async def test_explain_says_that_the_server_outranked_the_claim(acme: World):
    await acme.sale(click_id=await acme.visitor("anna"), customer_key=KEY)

    explained = await acme.store.read(explanation.explain, acme.program_id, customer_key=KEY, at=NOW)

    [lead] = [step for step in explained.steps if step.step == "lead"]
    assert lead.text.endswith("What your server sent outranks 1 leads that browsers sent with this customer_key.")
    assert lead.facts["outranked_partner_codes"] == ["ben"]
