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
    ServiceError,
    StatusTransitionRefused,
)
from storage.rules.settlement import LeadAuthPolicy, Settlement
from storage.tables import commissions, customers, leads, rollups
from tests import world
from tests.world import NOW, World, stored

BROWSER: dict[str, Any] = {"is_trusted": False}


async def values(acme: World, column: Any) -> list[Any]:
    return [value for (value,) in await stored(acme, column)]


async def test_a_lead_with_the_key_settles_once_and_saves_the_customers_key_and_an_e_mail_s_mask(acme: World):
    click_id = await acme.visitor()

    led = await acme.lead(click_id, "user-1", contact=contact.protect("Jane@example.com"))
    again = await acme.lead(click_id, "user-1")

    assert (led.settlement, led.recorded, again.recorded) == (Settlement.SETTLED, True, False)
    assert await stored(acme, customers.c.customer_key, customers.c.email_mask) == [("user-1", "j***@example.com")]
    assert await values(acme, rollups.c.leads) == await values(acme, func.count(leads.c.id)) == [1]


async def test_a_browsers_lead_counts_nowhere_and_saves_no_key_until_the_server_settles_it(acme: World):
    click_id = await acme.visitor()

    states = [(await acme.lead(click_id, "user-1", **BROWSER)).settlement for _ in range(2)]
    columns = (customers.c.customer_key, rollups.c.leads, func.count(leads.c.id))
    before = [await values(acme, column) for column in columns]
    led = await acme.lead(click_id, "user-1")

    assert (states, before) == ([Settlement.PROVISIONAL] * 2, [[None], [0], [1]])
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


async def test_a_converted_customer_cannot_become_a_lead_nor_can_a_provisional_one_who_bought(acme: World):
    converted, provisional = await acme.visitor(), await acme.visitor()
    await acme.lead(converted, "user-1")
    await acme.sale()
    await acme.lead(provisional, **BROWSER)
    await acme.sale("inv-2", click_id=provisional)

    for click_id, key in ((converted, "user-1"), (provisional, "user-2")):
        with pytest.raises(StatusTransitionRefused):
            await acme.lead(click_id, key)
    assert sorted(await values(acme, customers.c.settlement)) == [Settlement.PROVISIONAL, Settlement.SETTLED]


async def test_two_identifiers_of_different_customers_conflict(acme: World):
    first, second = await acme.visitor(), await acme.visitor()
    await acme.lead(first, "user-1")
    await acme.lead(second, "user-2")

    with pytest.raises(IdentifierConflict):
        await acme.lead(first, "user-2")
    with pytest.raises(IdentifierConflict):
        await acme.lead(first, "user-3")


async def test_a_lead_of_an_unknown_a_foreign_or_an_old_click_is_rejected(acme: World):
    other = await world.program_of(acme.store, acme.workspace_id, acme.owner_id)
    mine, theirs = await acme.visitor(), await other.visitor()
    wrong: list[tuple[type[ServiceError], str | None, dict[str, Any]]] = [
        (CustomerNotFound, "no-such-click", {}),
        (CustomerNotFound, None, {}),
        (CustomerWrongProgram, theirs, {}),
        (CustomerWrongProgram, mine, {"program_id": other.program_id}),
        (ProgramNotFound, mine, {"program_id": 987}),
        (AttributionWindowExpired, mine, {"at": NOW + timedelta(days=60, seconds=1)}),
    ]

    for error, click_id, about in wrong:
        with pytest.raises(error):
            await acme.lead(click_id, "user-1", **about)


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
