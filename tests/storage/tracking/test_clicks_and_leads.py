"""Clicks and leads, on both databases."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

import background
from storage import Storage
from storage.management import partners as partner_changes
from storage.rules import errors
from storage.rules.attribution import AttributionModel
from storage.rules.settlement import Settlement
from storage.tables import clicks, commissions, customers, leads, partners, rollups
from storage.tracking import clicks as click_operations
from storage.tracking.clicks import PartnerInactive
from tests import world
from tests.world import NOW, World, stored

LATER = NOW + timedelta(days=1)


async def counted(acme: World) -> tuple[int, int]:
    """Return how many clicks are stored, and how many the day counts."""
    totals = (select(func.count()).select_from(clicks), select(func.sum(rollups.c.clicks)))
    stored, day = await acme.store.read(lambda connection: [connection.execute(each).scalar_one() for each in totals])
    return stored, day


async def test_a_click_counts_once_whether_its_partner_s_link_or_the_call_comes_again(acme: World):
    first = await acme.click()
    about = (first.partner_code, first.cookie_window_days)

    again = await acme.visitor(existing_click_id=first.click_id, at=LATER)
    with pytest.raises(errors.StorageUnavailable):
        await acme.visitor(click_id=first.click_id)

    assert (about, again) == (("anna", 60), first.click_id)
    assert await counted(acme) == (1, 1)


async def test_codes_that_differ_in_case_or_final_punctuation_are_one_partner_s_unless_they_are_older(acme: World):
    async def credited(*codes: str) -> list[str]:
        return [(await acme.click(code)).partner_code for code in codes]

    for taken in ("anna", "Anna", "ANNA.", "anna-_~"):
        with pytest.raises(errors.ValidationError):
            await acme.do(partner_changes.enrol, name="Other", code=taken)
        with pytest.raises(errors.ValidationError):
            await acme.do(partner_changes.change, acme.ben, {"code": taken})
    assert await credited("anna", "Anna", "ANNA,", "anna.") == ["anna"] * 4
    with pytest.raises(errors.PartnerNotFound):
        await acme.click("an.na")

    spelled = update(partners).where(partners.c.id == acme.ben).values(code="Anna", code_key=None)
    await acme.store.write(lambda connection: connection.execute(spelled).rowcount)
    await acme.do(partner_changes.change, acme.ben, {"name": "Ben", "code": "Anna"})

    assert await credited("Anna", "anna", "ANNA") == ["Anna", "anna", "anna"]


@pytest.mark.parametrize(("model", "credited"), [("last_click", "ben"), ("first_click", "anna")])
async def test_the_last_or_first_partner_is_credited_while_the_cookie_lasts(store: Storage, model: str, credited: str):
    acme = await world.acme(store, attribution_model=AttributionModel(model))
    first, foreign = await acme.visitor("anna"), await (await acme.beside()).visitor()

    taken = await acme.click("ben", existing_click_id=first, at=LATER)
    late = await acme.visitor(existing_click_id=first, at=NOW + timedelta(days=60, seconds=1))

    assert (taken.partner_code, taken.click_id == first) == (credited, credited == "anna")
    assert late != first
    assert await acme.visitor(existing_click_id=foreign) != foreign


async def test_a_filtered_click_is_stored_and_not_counted_and_a_paused_program_accepts_none(acme: World):
    await acme.click(filtered="bot")
    await acme.click()
    assert await counted(acme) == (2, 1)

    await acme.change(status="paused")
    assert isinstance(await acme.click(), PartnerInactive)


async def test_a_mixed_batch_returns_each_item_its_own_result(acme: World):
    clicked = [acme.click(code) for code in ("anna", "nobody", "ben", "anna")]
    outcomes = await asyncio.gather(*clicked, acme.click(program_id=999), return_exceptions=True)

    results = [getattr(outcome, "partner_code", type(outcome).__name__) for outcome in outcomes]
    assert results == ["anna", "PartnerNotFound", "ben", "anna", "ProgramNotFound"]
    assert await counted(acme) == (3, 3)


async def test_clicks_of_before_they_had_dimensions_are_filled_in_chunks(acme: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(click_operations, "FILLED_AT_ONCE", 2)
    visitor = json.dumps({"user_agent": "Mozilla/5.0 (Windows NT 10.0) Chrome/140.0.0.0", "language": "en-US"})
    for _ in range(5):
        await acme.click(visitor=visitor, referrer_url="https://news.example/1")
    await acme.click(dimensions='{"os":"iOS"}')

    await background.keep_house(acme.store, at=NOW)

    old = {"landing_path": "/", "device": "desktop", "browser": "Chrome", "os": "Windows", "language": "en"}
    rows = await stored(acme, clicks.c.referrer_host, clicks.c.dimensions)
    filled = [(host, json.loads(text)) for host, text in rows]
    assert sorted(filled, key=str) == sorted([("news.example", old)] * 5 + [(None, {"os": "iOS"})], key=str)


BROWSER: dict[str, Any] = {"is_trusted": False}


async def values(acme: World, column: Any) -> list[Any]:
    return [value for (value,) in await stored(acme, column)]


async def test_a_browsers_lead_earns_nothing_counts_nowhere_and_saves_no_key_until_the_server_settles_it(
    store: Storage,
):
    acme = await world.acme(store, lead_commission_cents=150)
    click_id = await acme.visitor()

    states = [(await acme.lead(click_id, "user-1", **BROWSER)).settlement for _ in range(2)]
    columns = (customers.c.customer_key, rollups.c.leads, func.count(leads.c.id), commissions.c.amount_cents)
    before = [await values(acme, column) for column in columns]
    led = await acme.lead(click_id, "user-1")

    assert (states, before) == ([Settlement.PROVISIONAL] * 2, [[None], [0], [1], []])
    assert led.settlement == Settlement.SETTLED
    assert [await values(acme, column) for column in columns] == [["user-1"], [1], [2], [150]]


async def test_a_converted_customer_cannot_become_a_lead_nor_can_a_provisional_one_who_bought(acme: World):
    converted, provisional = await acme.visitor(), await acme.visitor()
    await acme.lead(converted, "user-1")
    await acme.sale()
    await acme.lead(provisional, **BROWSER)
    await acme.sale("inv-2", click_id=provisional)

    for click_id, key in ((converted, "user-1"), (provisional, "user-2")):
        with pytest.raises(errors.StatusTransitionRefused):
            await acme.lead(click_id, key)
    assert sorted(await values(acme, customers.c.settlement)) == [Settlement.PROVISIONAL, Settlement.SETTLED]


async def test_a_lead_of_an_unknown_a_foreign_or_an_old_click_or_of_two_customers_is_rejected(acme: World):
    other = await acme.beside()
    mine, theirs, first, second = [await each.visitor() for each in (acme, other, acme, acme)]
    await acme.lead(first, "user-1")
    await acme.lead(second, "user-2")
    wrong: list[tuple[type[errors.ServiceError], str | None, dict[str, Any]]] = [
        (errors.CustomerNotFound, "no-such-click", {}),
        (errors.CustomerNotFound, None, {}),
        (errors.CustomerWrongProgram, theirs, {}),
        (errors.CustomerWrongProgram, mine, {"program_id": other.program_id}),
        (errors.ProgramNotFound, mine, {"program_id": 987}),
        (errors.AttributionWindowExpired, mine, {"at": NOW + timedelta(days=60, seconds=1)}),
        (errors.IdentifierConflict, first, {"customer_key": "user-2"}),
        (errors.IdentifierConflict, first, {}),
    ]

    for error, click_id, about in wrong:
        with pytest.raises(error):
            await acme.lead(click_id, **{"customer_key": "user-3", **about})


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
