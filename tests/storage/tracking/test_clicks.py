"""Clicks, on both databases."""

import asyncio
import json
from datetime import timedelta

import pytest
from sqlalchemy import func, select

import background
from storage import Storage
from storage.checks import books
from storage.engine.audit import OPERATOR
from storage.management import program_settings
from storage.rules.attribution import AttributionModel
from storage.rules.click_details import ClickDetails
from storage.rules.errors import OutcomeUnknown
from storage.tables import clicks, rollups
from storage.tracking import click_dimensions
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
    with pytest.raises(OutcomeUnknown):
        await acme.visitor(click_id=first.click_id)

    assert (about, again) == (("anna", 60), first.click_id)
    assert await counted(acme) == (1, 1)
    assert await acme.store.read(books.run) == []


async def test_a_click_of_another_partner_replaces_the_earlier_one_and_so_does_any_after_the_cookie(acme: World):
    first = await acme.visitor("anna")

    taken = await acme.click("ben", existing_click_id=first, at=LATER)
    late = await acme.visitor(existing_click_id=first, at=NOW + timedelta(days=60, seconds=1))

    assert taken.partner_code == "ben"
    assert first not in {taken.click_id, late}


async def test_with_first_click_the_first_partner_is_credited(store: Storage):
    acme = await world.acme(store, attribution_model=AttributionModel.FIRST_CLICK)
    first = await acme.visitor("anna")

    kept = await acme.click("ben", existing_click_id=first, at=LATER)

    assert (kept.click_id, kept.partner_code) == (first, "anna")


async def test_a_filtered_click_is_stored_and_not_counted_and_a_paused_program_accepts_none(acme: World):
    await acme.click(filtered="bot")
    await acme.click()
    assert await counted(acme) == (2, 1)

    await acme.store.write(program_settings.change, acme.program_id, {"status": "paused"}, actor=OPERATOR, at=NOW)
    assert isinstance(await acme.click(), PartnerInactive)


async def test_a_mixed_batch_returns_each_item_its_own_result(acme: World):
    clicked = [acme.click(code) for code in ("anna", "nobody", "ben", "anna")]
    outcomes = await asyncio.gather(*clicked, acme.click(program_id=999), return_exceptions=True)

    results = [getattr(outcome, "partner_code", type(outcome).__name__) for outcome in outcomes]
    assert results == ["anna", "PartnerNotFound", "ben", "anna", "ProgramNotFound"]
    assert await counted(acme) == (3, 3)
    assert await acme.store.read(books.run) == []


async def test_clicks_from_before_they_had_dimensions_are_filled_in_chunks_and_new_ones_are_left_alone(
    acme: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(click_dimensions, "ROWS_AT_ONCE", 2)
    visitor = json.dumps({"user_agent": "Mozilla/5.0 (Windows NT 10.0) Chrome/140.0.0.0", "language": "en-US"})
    for _ in range(5):
        await acme.click(visitor=visitor, referrer_url="https://news.example/1")
    await acme.click(details=ClickDetails(dimensions='{"os":"iOS"}'))

    await background.fill_clicks(acme.store)

    old = {"landing_path": "/", "device": "desktop", "browser": "Chrome", "os": "Windows", "language": "en"}
    filled = [
        (host, json.loads(text)) for host, text in await stored(acme, clicks.c.referrer_host, clicks.c.dimensions)
    ]
    assert sorted(filled, key=str) == sorted([("news.example", old)] * 5 + [(None, {"os": "iOS"})], key=str)
