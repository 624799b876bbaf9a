"""A lead with the key takes its customer_key from a browser's claim, on each database and within one batch."""

import asyncio

import pytest

from storage import Storage
from storage.checks import books
from storage.engine.audit import OPERATOR
from storage.management.commissions import decide
from storage.reading import customer_timelines
from storage.rules.commission import CommissionStatus
from storage.rules.errors import AttributionWindowExpired, CustomerNotFound, StatusTransitionRefused
from storage.rules.settlement import LeadAuthPolicy, Settlement
from storage.tables import commissions, customers, leads, partner_rollups, sales
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


@pytest.mark.parametrize("is_known", [False, True])
async def test_the_claim_loses_its_key_its_count_and_its_commission(acme: World, *, is_known: bool):
    thief, victim = await acme.visitor("ben"), await acme.visitor("anna")
    await acme.lead(thief, "user-1", **CLAIM)
    if is_known:
        await acme.lead(victim, "user-1", **CLAIM)

    led = await acme.lead(victim, "user-1")

    assert led.recorded
    assert set(await stored(acme, customers.c.click_id, customers.c.customer_key)) == {
        (thief, None),
        (victim, "user-1"),
    }
    lost = {acme.ben, acme.anna} if is_known else {acme.ben}
    assert set(await stored(acme, leads.c.partner_id, leads.c.settlement)) == {
        *((partner_id, Settlement.OUTRANKED) for partner_id in lost),
        (acme.anna, Settlement.SETTLED),
    }
    assert await counted(acme) == {acme.anna: 1}
    assert (await acme.store.read(ledger.balance, acme.program_id, acme.ben)).owed_cents == 0
    assert await acme.store.read(books.run) == []


async def test_a_lost_claim_settles_with_the_key_alone_and_both_timelines_show_it(acme: World):
    thief = await acme.visitor("ben")
    await acme.lead(thief, "user-1", **CLAIM)
    assert not (await acme.lead(None, "user-1")).recorded  # names no click: the claim stays open
    await acme.lead(await acme.visitor("anna"), "user-1")
    ids = {partner: each for each, partner in await stored(acme, customers.c.id, customers.c.partner_id)}
    timelines = [
        (await acme.store.read(customer_timelines.get_timeline, acme.program_id, each)).steps for each in ids.values()
    ]

    claims = [await acme.lead(thief, key, **CLAIM) for key in ("user-1", "user-2", None)]
    settled = await acme.lead(thief, "user-3")

    lost = [[step for step in steps if getattr(step, "outranked_by", None) == ids[acme.anna]] for steps in timelines]
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
    assert await acme.store.read(books.run) == []


async def test_a_customer_who_has_bought_stays(acme: World):
    await acme.lead(await acme.visitor("anna"), "user-1", **CLAIM)
    await acme.sale()

    with pytest.raises(StatusTransitionRefused):
        await acme.lead(await acme.visitor("ben"), "user-1")
    assert await counted(acme) == {acme.anna: 1}


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


async def counted(acme: World) -> dict[int, int]:
    """Return the counted leads of each partner."""
    rows = await stored(acme, partner_rollups.c.partner_id, partner_rollups.c.leads)
    return {partner_id: leads for partner_id, leads in rows if leads}


async def test_without_the_key_a_customer_key_finds_nobody(acme: World):
    await acme.customer("user-1")

    with pytest.raises(CustomerNotFound):
        await acme.lead(None, "user-1", **CLAIM)
