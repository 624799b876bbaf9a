"""A real Chromium, a shop on one origin and the live service on another; nothing may be thrown into a page."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests import failing, serving, test_journeys, world
from tests.browser.scene import FIREFOX, Scene
from tests.browser.shop import Shop
from tests.serving import Served


@pytest.fixture(scope="session")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The service; every test has a program of its own in it."""
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("service") / "svc.db")
    with serving.in_a_thread(f"sqlite+aiosqlite:///{path}") as served:
        yield served


@pytest.fixture
async def scene(browser: Browser, service: Served) -> AsyncIterator[Scene]:
    """A visitor, Acme's shop with the tracker on every page, and the service."""
    acme = await test_journeys.stored(service.database_url, world.acme)
    context = await browser.new_context(user_agent=FIREFOX)
    with failing.serving(Shop()) as shop:
        made = Scene(acme, service, shop, context)
        made.show(made.tag())
        yield made
    assert made.thrown == []
