"""A real Chromium, a shop on one origin and the live service on another; nothing may be thrown into a page."""

import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests import chromium
from tests.browser import shop
from tests.browser.scene import FIREFOX, Scene
from tests.browser.shop import Shop
from tests.conftest import LiveServer, servers
from tests.test_journeys import prepared

EVERY_SHOP_IS_HERE = "--host-resolver-rules=MAP * 127.0.0.1"  # whatever its name; and nothing leaves this machine


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A running Chromium."""
    async with chromium.launched(EVERY_SHOP_IS_HERE) as running:
        yield running


@pytest.fixture
def acme_shop() -> Iterator[Shop]:
    """Acme's shop."""
    with shop.opened() as opened:
        yield opened


@pytest.fixture(scope="session")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """The live service; every test has a program of its own in it."""
    folder = tmp_path_factory.mktemp("service")
    with servers(folder) as start:
        yield start(f"sqlite+aiosqlite:///{shutil.copy(sqlite_template, folder / 'svc.db')}")


@pytest.fixture
async def scene(browser: Browser, service: LiveServer, acme_shop: Shop) -> AsyncIterator[Scene]:
    """A visitor, Acme's shop with the tracker on every page, and the service."""
    acme = await prepared(service.database_url)
    context = await browser.new_context(user_agent=FIREFOX)
    made = Scene(acme, service, acme_shop, context)
    made.show(made.tag())
    yield made
    await context.close()
    assert made.thrown == []
