"""The server's lead or sale takes a customer_key from a browser's claim, on each database and within one batch."""

import asyncio

import pytest

from storage import Storage
from storage.lists import customers as listed_customers
from storage.lists.declaration import ListScope
from storage.management import partners
from storage.rules.attribution import PartnerStatus
from storage.rules.errors import AttributionWindowExpired, CustomerNotAttributed, CustomerNotFound, IdentifierConflict
from storage.rules.settlement import LeadAuthPolicy, Settlement
from storage.tables import commissions, customers, leads, partner_rollups, sales
from tests import world
from tests.world import NOW, World, stored

KEY = "user-105"
CLAIM = {"is_trusted": False}
COUNTED = (partner_rollups.c.partner_id, partner_rollups.c.leads, partner_rollups.c.conversions)


@pytest.fixture
async def acme(store: Storage) -> World:
    """Acme's program trusts browsers and pays 5.00 for a lead."""
    terms = {"lead_auth_policy": LeadAuthPolicy.BROWSER_ALLOWED, "lead_commission_cents": 500, "hold_days": 0}
    return await world.acme(store, **terms)


@pytest.fixture
async def claimed(acme: World) -> World:
    """A stranger whom Ben sent has claimed user-105."""
    await acme.lead(await acme.visitor("ben"), KEY, **CLAIM)
    return acme


async def owed(acme: World, partner_id: int) -> int:
    return sum((await acme.store.read(world.account, acme.program_id, partner_id)).values())


async def counted(acme: World) -> dict[int, int]:
    """Return the counted leads of each partner."""
    rows = await stored(acme, partner_rollups.c.partner_id, partner_rollups.c.leads)
    return {partner_id: leads for partner_id, leads in rows if leads}


async def named(acme: World) -> list[tuple[str | None, int]]:
    return sorted(await stored(acme, customers.c.customer_key, customers.c.partner_id), key=str)


async def test_a_claim_loses_its_key_its_count_and_its_commission_to_a_lead(claimed: World):
    led = await claimed.lead(await claimed.visitor("anna"), KEY)

    assert led.recorded
    assert await named(claimed) == sorted([(None, claimed.ben), (KEY, claimed.anna)], key=str)
    states = {(claimed.ben, Settlement.OUTRANKED), (claimed.anna, Settlement.SETTLED)}
    assert set(await stored(claimed, leads.c.partner_id, leads.c.settlement)) == states
    assert set(await stored(claimed, *COUNTED)) == {(claimed.ben, 0, 0), (claimed.anna, 1, 0)}
    assert (await owed(claimed, claimed.anna), await owed(claimed, claimed.ben)) == (500, 0)
    with pytest.raises(CustomerNotFound):
        await claimed.lead(None, KEY, **CLAIM)  # without the program key a customer_key finds nobody


async def test_a_lost_claim_settles_with_the_key_alone_and_both_timelines_show_it(acme: World):
    thief = await acme.visitor("ben")
    await acme.lead(thief, "user-1", **CLAIM)
    assert not (await acme.lead(None, "user-1")).recorded  # names no click: the claim stays open
    await acme.lead(await acme.visitor("anna"), "user-1")
    ids = {partner: each for each, partner in await stored(acme, customers.c.id, customers.c.partner_id)}
    scope = ListScope(acme.program_id, NOW)
    trails = [(await acme.store.read(listed_customers.get_timeline, scope, each))[1] for each in ids.values()]

    claims = [await acme.lead(thief, key, **CLAIM) for key in ("user-1", "user-2", None)]
    settled = await acme.lead(thief, "user-3")

    lost = [[step for step in steps if getattr(step, "outranked_by", None) == ids[acme.anna]] for steps in trails]
    assert [[step.partner_code for step in steps] for steps in lost] == [["ben"], ["ben"]]
    assert [claim.recorded for claim in claims] == [False] * 3
    assert settled.recorded
    assert await counted(acme) == {acme.ben: 1, acme.anna: 1}


@pytest.mark.parametrize("claimed_first", [False, True])
async def test_a_lead_with_the_key_is_outranked_by_no_claim_and_no_other_lead(acme: World, *, claimed_first: bool):
    first = await acme.visitor("anna")
    if claimed_first:
        await acme.lead(first, "user-1", **CLAIM)
    await acme.lead(first, "user-1")
    thief = await acme.visitor("ben")

    for _ in range(2):
        await acme.lead(thief, "user-1", **CLAIM)
    other = await acme.lead(await acme.visitor("ben"), "user-1")
    await acme.sale(click_id=thief, customer_key="user-1")

    assert not other.recorded
    assert await stored(acme, sales.c.partner_id) == [(acme.anna,)]
    assert await counted(acme) == {acme.anna: 1}


async def test_a_paid_commission_on_a_claim_is_owed_back(claimed: World):
    [(claim,)] = await stored(claimed, commissions.c.id)
    for status in ("approved", "paid"):
        await claimed.decide(status, claim)

    await claimed.lead(await claimed.visitor("anna"), KEY)

    assert await owed(claimed, claimed.ben) == -500


async def test_the_partner_of_the_click_that_a_sale_names_is_paid_and_the_claim_counts_nowhere(claimed: World):
    sold = await claimed.sale(click_id=await claimed.visitor("anna"), customer_key=KEY)

    explained = await claimed.explain(customer_key=KEY)
    assert sold.customer_key_saved
    assert await stored(claimed, sales.c.partner_id) == [(claimed.anna,)]
    assert (await owed(claimed, claimed.anna), await owed(claimed, claimed.ben)) == (2_000, 0)
    assert await stored(claimed, leads.c.partner_id, leads.c.settlement) == [(claimed.ben, Settlement.OUTRANKED)]
    assert set(await stored(claimed, *COUNTED)) == {(claimed.ben, 0, 0), (claimed.anna, 0, 1)}
    [lead] = [step for step in explained.steps if step.step == "lead"]
    assert lead.text.endswith("What your server sent outranks 1 leads that browsers sent with this customer_key.")
    assert lead.facts["outranked_partner_codes"] == ["ben"]

    await claimed.lead(await claimed.visitor("ben"), KEY, **CLAIM)  # no browser claims it again
    await claimed.sale("inv-2", customer_key=KEY)

    assert await stored(claimed, sales.c.partner_id) == [(claimed.anna,), (claimed.anna,)]


@pytest.mark.parametrize("is_trusted", [True, False])
async def test_the_named_click_may_have_a_customer_without_a_key(claimed: World, is_trusted: bool):  # noqa: FBT001 - the cases
    click_id = await claimed.visitor("anna")
    await claimed.lead(click_id, is_trusted=is_trusted)

    await claimed.sale(click_id=click_id, customer_key=KEY)

    assert await named(claimed) == sorted([(None, claimed.ben), (KEY, claimed.anna)], key=str)


async def test_claims_leads_and_sales_of_one_batch_end_with_what_the_server_sent(acme: World):
    visitors = [(await acme.visitor("ben"), await acme.visitor("anna"), f"user-{n}") for n in range(8)]
    by_lead, by_sale = visitors[:4], visitors[4:]

    claims = (acme.lead(thief, key, **CLAIM) for thief, _, key in visitors)
    await asyncio.gather(*claims, *(acme.lead(victim, key) for _, victim, key in by_lead))
    pairs = [(click_id, key, n) for _, click_id, key in by_sale for n in (1, 2)]
    await asyncio.gather(*(acme.sale(f"{key}-{n}", click_id=click, customer_key=key) for click, key, n in pairs))

    assert [each for each in await named(acme) if each[0]] == [(key, acme.anna) for *_, key in visitors]
    assert await stored(acme, sales.c.partner_id) == [(acme.anna,)] * 8


async def test_an_expired_click_outranks_nothing(acme: World):
    late = NOW.replace(month=9)
    expired, fresh = await acme.visitor("anna"), await acme.visitor("ben", at=late)
    await acme.lead(fresh, "user-1", at=late, **CLAIM)

    led = await acme.lead(expired, "user-1", at=late)

    assert not led.recorded
    with pytest.raises(AttributionWindowExpired):
        await acme.lead(expired, "user-2", at=late)


@pytest.mark.parametrize("confirmed_by", ["lead", "sale"])
async def test_a_confirmed_key_conflicts_with_the_click_of_another_customer(claimed: World, confirmed_by: str):
    if confirmed_by == "lead":
        await claimed.lead(await claimed.visitor("anna"), KEY)
    else:
        await claimed.sale(customer_key=KEY)
    other = await claimed.visitor("anna")
    await claimed.lead(other)

    with pytest.raises(IdentifierConflict):
        await claimed.sale("inv-2", click_id=other, customer_key=KEY)


async def test_a_rejected_sale_leaves_the_claim_as_it_was(claimed: World):
    click_id = await claimed.visitor("anna")
    await claimed.do(partners.change, claimed.anna, {"status": PartnerStatus.INACTIVE})

    with pytest.raises(CustomerNotAttributed):
        await claimed.sale(click_id=click_id, customer_key=KEY)

    assert await stored(claimed, leads.c.settlement) == [(Settlement.SETTLED,)]
