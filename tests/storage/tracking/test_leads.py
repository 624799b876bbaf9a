"""Leads, on both databases."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func

from storage import Storage
from storage.checks import books
from storage.rules import contact
from storage.rules.errors import (
    AttributionWindowExpired,
    CustomerNotFound,
    CustomerWrongProgram,
    IdentifierConflict,
    ProgramNotFound,
    StatusTransitionRefused,
)
from storage.rules.settlement import LeadAuthPolicy, Settlement
from storage.tables import commissions, customers, leads, rollups
from tests import world
from tests.world import NOW, World, stored

BROWSER: dict[str, Any] = {"is_trusted": False}


async def values(acme: World, column: Any) -> list[Any]:
    return [value for (value,) in await stored(acme, column)]


async def test_a_lead_with_the_key_settles_and_saves_the_customers_key(acme: World):
    led = await acme.lead(await acme.visitor(), "user-1")

    assert (led.settlement, led.recorded) == (Settlement.SETTLED, True)
    assert await values(acme, customers.c.customer_key) == ["user-1"]
    assert await values(acme, rollups.c.leads) == [1]


async def test_a_settled_lead_again_changes_nothing(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1")

    again = await acme.lead(click_id, "user-1")

    assert again.recorded is False
    assert await values(acme, func.count(leads.c.id)) == [1]


async def test_a_browsers_lead_stays_provisional_counts_nowhere_and_saves_no_key(acme: World):
    click_id = await acme.visitor()

    states = [(await acme.lead(click_id, "user-1", **BROWSER)).settlement for _ in range(2)]

    assert states == [Settlement.PROVISIONAL, Settlement.PROVISIONAL]
    assert await values(acme, customers.c.customer_key) == [None]
    assert await values(acme, func.count(leads.c.id)) == [1]
    assert await values(acme, rollups.c.leads) == [0]


async def test_the_server_settles_a_provisional_lead(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, **BROWSER)

    led = await acme.lead(click_id, "user-1")

    assert led.settlement == Settlement.SETTLED
    assert await values(acme, rollups.c.leads) == [1]


async def test_a_trusting_policy_lets_the_browser_settle(store: Storage):
    acme = await world.acme(store, lead_auth_policy=LeadAuthPolicy.BROWSER_ALLOWED)

    led = await acme.lead(await acme.visitor(), "user-1", **BROWSER)

    assert led.settlement == Settlement.SETTLED


async def test_a_settled_lead_earns_the_per_lead_commission_and_a_provisional_one_does_not(store: Storage):
    acme = await world.acme(store, lead_commission_cents=150)
    click_id = await acme.visitor()

    await acme.lead(click_id, **BROWSER)
    before = await values(acme, commissions.c.amount_cents)
    await acme.lead(click_id, "user-1")

    assert before == []
    assert await values(acme, commissions.c.amount_cents) == [150]
    assert await store.read(books.run) == []


async def test_a_converted_customer_cannot_become_a_lead(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, "user-1")
    await acme.sale()

    with pytest.raises(StatusTransitionRefused):
        await acme.lead(click_id, "user-1")


async def test_a_sale_of_a_provisional_customer_does_not_settle_and_ends_the_chance_to(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id, **BROWSER)
    await acme.sale(click_id=click_id)

    with pytest.raises(StatusTransitionRefused):
        await acme.lead(click_id, "user-1")
    assert await values(acme, customers.c.settlement) == [Settlement.PROVISIONAL]


async def test_two_identifiers_of_different_customers_conflict(acme: World):
    first, second = await acme.visitor(), await acme.visitor()
    await acme.lead(first, "user-1")
    await acme.lead(second, "user-2")

    with pytest.raises(IdentifierConflict):
        await acme.lead(first, "user-2")
    with pytest.raises(IdentifierConflict):
        await acme.lead(first, "user-3")


async def test_leads_of_unknown_customers_are_rejected(acme: World):
    with pytest.raises(CustomerNotFound):
        await acme.lead("no-such-click")
    with pytest.raises(CustomerNotFound):
        await acme.lead(None, "nobody")


async def test_another_programs_click_differs_from_no_click(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)

    with pytest.raises(CustomerWrongProgram):
        await acme.lead(await other.visitor(), "user-1")
    with pytest.raises(CustomerWrongProgram):
        await acme.lead(await acme.visitor(), "user-1", program_id=other.program_id)
    with pytest.raises(ProgramNotFound):
        await acme.lead(await acme.visitor(), "user-1", program_id=987)


async def test_a_click_after_the_window_creates_no_lead(acme: World):
    click_id = await acme.visitor()

    with pytest.raises(AttributionWindowExpired):
        await acme.lead(click_id, "user-1", at=NOW + timedelta(days=60, seconds=1))


async def test_only_the_hash_and_mask_of_an_e_mail_address_are_stored(acme: World):
    await acme.lead(await acme.visitor(), "user-1", contact=contact.protect("Jane@example.com"))

    assert await values(acme, customers.c.email_mask) == ["j***@example.com"]


async def test_a_later_lead_may_add_the_key_that_the_first_one_lacked(acme: World):
    click_id = await acme.visitor()
    await acme.lead(click_id)

    await acme.lead(click_id, "user-1")

    assert await values(acme, customers.c.customer_key) == ["user-1"]
    assert await values(acme, rollups.c.leads) == [1]


async def test_the_same_lead_many_times_at_once_is_one_lead(acme: World):
    click_id = await acme.visitor()

    results = await asyncio.gather(*(acme.lead(click_id, "user-1") for _ in range(24)))

    assert sum(led.recorded for led in results) == 1
    assert await values(acme, rollups.c.leads) == [1]
    assert await acme.store.read(books.run) == []
