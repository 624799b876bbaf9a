"""Clicks, on both databases."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from storage.clicks import Clicked, PartnerInactive
from storage.rules.errors import PartnerNotFound, ProgramNotFound
from storage.tables import clicks, rollups
from tests import world
from tests.world import NOW, World


async def test_a_click_gets_an_id_and_steps_the_day(acme: World):
    clicked = await acme.click()

    day = await acme.store.read(lambda connection: connection.execute(select(rollups.c.clicks)).scalar())
    assert isinstance(clicked, Clicked)
    assert (clicked.partner_code, clicked.cookie_window_days) == ("anna", 60)
    assert day == 1
