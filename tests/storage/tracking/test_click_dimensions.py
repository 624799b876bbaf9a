"""Clicks from before they had dimensions are filled from what they stored, on both databases."""

import json

import pytest
from sqlalchemy import select

import background
from storage.rules.click_details import ClickDetails
from storage.tables import clicks
from storage.tracking import click_dimensions
from tests.world import World

CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
)


async def test_old_clicks_are_filled_in_chunks_and_new_ones_are_left_alone(
    acme: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(click_dimensions, "ROWS_AT_ONCE", 2)
    visitor = json.dumps({"user_agent": CHROME, "language": "en-US"})
    for _ in range(5):
        await acme.click(visitor=visitor, referrer_url="https://news.example/1")
    await acme.click(details=ClickDetails(dimensions='{"os":"iOS"}'))

    await background.fill_clicks(acme.store)

    columns = (clicks.c.referrer_host, clicks.c.dimensions)
    stored = await acme.store.read(lambda connection: connection.execute(select(*columns)).all())
    old = {"landing_path": "/", "device": "desktop", "browser": "Chrome", "os": "Windows", "language": "en"}
    filled = [(host, json.loads(text)) for host, text in stored]
    assert sorted(filled, key=str) == sorted([("news.example", old)] * 5 + [(None, {"os": "iOS"})], key=str)
