"""Clicks, on both databases."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from storage import Storage
from storage.checks import books
from storage.engine.audit import Actor
from storage.management import program_settings
from storage.rules.attribution import AttributionModel
from storage.rules.errors import OutcomeUnknown, PartnerNotFound, ProgramNotFound
from storage.tables import clicks, rollups
from storage.tracking.clicks import PartnerInactive
from tests import world
from tests.world import NOW, World

LATER = NOW + timedelta(days=1)


async def counted(acme: World) -> tuple[int, int]:
    """Return how many clicks are stored, and how many the day counts."""
    totals = (select(func.count()).select_from(clicks), select(func.sum(rollups.c.clicks)))
    stored, day = await acme.store.read(lambda connection: [connection.execute(each).scalar_one() for each in totals])
    return stored, day


async def test_a_click_gets_an_id_and_increments_the_day(acme: World):
    clicked = await acme.click()

    assert (clicked.partner_code, clicked.cookie_window_days) == ("anna", 60)
    assert await counted(acme) == (1, 1)


async def test_the_same_partner_again_does_not_change_the_click_and_counts_nothing(acme: World):
    first = await acme.visitor()

    again = await acme.visitor(existing_click_id=first, at=LATER)

    assert again == first
    assert await counted(acme) == (1, 1)


async def test_a_second_run_of_a_click_is_rejected_by_its_id(acme: World):
    first = await acme.visitor()

    with pytest.raises(OutcomeUnknown):
        await acme.visitor(click_id=first)

    assert await counted(acme) == (1, 1)
    assert await acme.store.read(books.run) == []


async def test_a_click_of_another_partner_replaces_the_earlier_one(acme: World):
    first = await acme.visitor("anna")

    taken = await acme.click("ben", existing_click_id=first, at=LATER)

    assert taken.partner_code == "ben"
    assert taken.click_id != first


async def test_with_first_click_the_first_partner_is_credited(store: Storage):
    acme = await world.acme(store, attribution_model=AttributionModel.FIRST_CLICK)
    first = await acme.visitor("anna")

    kept = await acme.click("ben", existing_click_id=first, at=LATER)

    assert (kept.click_id, kept.partner_code) == (first, "anna")


async def test_a_click_older_than_the_cookie_is_replaced(acme: World):
    first = await acme.visitor()

    again = await acme.visitor(existing_click_id=first, at=NOW + timedelta(days=60, seconds=1))

    assert again != first


async def test_a_filtered_click_is_stored_and_not_counted(acme: World):
    await acme.click(filtered="bot")
    await acme.click()

    assert await counted(acme) == (2, 1)


async def test_a_paused_program_accepts_no_clicks(acme: World):
    owner = Actor("member", str(acme.owner_id), "owner@acme.example")
    await acme.store.write(program_settings.change, acme.program_id, {"status": "paused"}, actor=owner, at=NOW)

    assert isinstance(await acme.click(), PartnerInactive)


async def test_unknown_programs_and_partners_are_rejected_with_their_codes(acme: World):
    with pytest.raises(PartnerNotFound):
        await acme.click("nobody")
    with pytest.raises(ProgramNotFound):
        await acme.click(program_id=999)


async def test_a_mixed_batch_returns_each_item_its_own_result(acme: World):
    outcomes = await asyncio.gather(
        *(acme.click(code) for code in ("anna", "nobody", "ben", "anna")), return_exceptions=True
    )

    assert [getattr(outcome, "partner_code", type(outcome).__name__) for outcome in outcomes] == [
        "anna",
        "PartnerNotFound",
        "ben",
        "anna",
    ]
    assert await counted(acme) == (3, 3)
    assert await acme.store.read(books.run) == []
