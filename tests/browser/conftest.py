"""A real Chromium, a shop on one origin and the live service on another; nothing may be thrown into a page."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.browser import shop
from tests.browser.scene import FIREFOX, Scene
from tests.browser.shop import Shop
from tests.conftest import LiveServer, servers
from tests.test_journeys import prepared

NO_CHROMIUM = "Chromium is not installed (Debian: apt-get install chromium)"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * 127.0.0.1",  # every shop is this machine, and nothing leaves it
]


@pytest.fixture(scope="session")
async def chromium() -> AsyncIterator[Browser]:
    """A running Chromium."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        assert "SVC_NOTHING_SKIPPED" not in os.environ, NO_CHROMIUM
        pytest.skip(NO_CHROMIUM)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        await browser.close()


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
async def scene(chromium: Browser, service: LiveServer, acme_shop: Shop) -> AsyncIterator[Scene]:
    """A visitor, Acme's shop with the tracker on every page, and the service."""
    acme = await prepared(service.database_url)
    context = await chromium.new_context(user_agent=FIREFOX)
    made = Scene(acme, service, acme_shop, context)
    made.show(made.tag())
    yield made
    await context.close()
    assert made.thrown == []
