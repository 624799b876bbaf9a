"""The example shops as processes, a shopper with a real Chromium, and the service, which fails on request."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.async_api import Browser, BrowserContext, Page

from storage import Storage
from storage.engine.audit import OPERATOR, By
from storage.management import program_settings
from tests import failing, serving, shops, world
from tests.browser.scene import FIREFOX
from tests.conftest import ROOT
from tests.failing import PASSES_ON, FailingService
from tests.test_journeys import stored

EXAMPLES = ROOT / "examples"
NEXT = ["node", "node_modules/next/dist/bin/next", "start", "-p", "PORT", "-H", "127.0.0.1"]


class Example(NamedTuple):
    """A shop at shop.example, which Chromium resolves to this machine, and the file of what its process has printed."""

    port: int
    log: Path

    def url(self, path: str = "/") -> str:
        return f"http://shop.example:{self.port}{path}"


class Shopper:
    """A visitor of a shop, in a browser context of their own; `thrown` is what pages threw."""

    def __init__(self, example: Example, context: BrowserContext, page: Page) -> None:
        self.example = example
        self.context = context
        self.page = page
        self.thrown: list[str] = []
        page.on("pageerror", lambda error: self.thrown.append(error.message))

    async def arrive(self, code: str = "anna") -> str:
        """Follow a partner's link and return the click that the shopper then carries."""
        await self.page.goto(self.example.url(f"/?aff={code}"))
        await self.page.wait_for_function("() => document.cookie.includes('svc_click_id=')")
        return (await self.cookies())["svc_click_id"]

    async def cookies(self) -> dict[str, str]:
        return {str(each["name"]): str(each["value"]) for each in await self.context.cookies()}

    async def sign_up(self) -> str:
        await self.page.goto(self.example.url("/register"))
        await self.page.fill("input[name=email]", "jane@example.com")
        await self.page.click("text=Sign up")
        await self.page.wait_for_selector("h1:has-text('Welcome')")
        return await self.page.inner_text("#user")

    async def pay(self) -> str:
        number = await self.page.locator(".invoice").count()
        await self.page.click("text=Pay")
        await self.page.locator(".invoice").nth(number).wait_for()
        return await self.page.locator(".invoice").nth(number).inner_text()

    async def refund(self) -> None:
        await self.page.click("text=Refund")
        await self.page.wait_for_selector("text=refunded")


async def open_shopper(browser: Browser, example: Example) -> Shopper:
    """Return a shopper who has not been to the shop."""
    context = await browser.new_context(user_agent=FIREFOX)
    return Shopper(example, context, await context.new_page())


class Around(NamedTuple):
    """What a shop is in: Acme, the service, and what stands between the two."""

    acme: world.World
    served: serving.Served
    between: FailingService


@pytest.fixture(scope="session")
def service(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Around]:
    """The service, what stands before it, and Acme's program, which is number 1."""
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("service") / "svc.db")
    url = f"sqlite+aiosqlite:///{path}"
    acme = asyncio.run(stored(url, _acme))
    assert acme.program_id == 1
    with serving.in_a_thread(url) as served, failing.running(served.base_url) as between:
        yield Around(acme, served, between)


async def _acme(store: Storage) -> world.World:
    made = await world.acme(store)
    domains = {"domain": "shop.example", "further_domains": "checkout.example"}
    await store.write(program_settings.change, made.program_id, domains, by=By(OPERATOR, world.NOW))
    return made


@pytest.fixture(scope="session")
def stripe() -> Iterator[FailingService]:
    """What the Next.js example opens its checkouts with."""
    with failing.running() as running:
        yield running


@pytest.fixture(scope="session")
def example(service: Around, stripe: FailingService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Example]:
    """The Next.js example as it was built, with its environment."""
    log = tmp_path_factory.mktemp("example") / "log"
    environment = {"SERVICE_API_KEY": service.acme.key, "SERVICE_BASE_URL": service.between.base_url}
    environment |= {"STRIPE_API_URL": stripe.base_url, "STRIPE_SECRET_KEY": "sk_test_1"}
    environment |= {"SERVICE_PROGRAM_ID": "1", "NEXT_TELEMETRY_DISABLED": "1"}
    with shops.running(NEXT, "Ready in", cwd=EXAMPLES / "next", log=log, **environment) as (port, _):
        yield Example(port, log)


@pytest.fixture
async def shopper(service: Around, example: Example, browser: Browser) -> AsyncIterator[Shopper]:
    """A shopper; no page may throw."""
    service.between.answers = [PASSES_ON]
    service.between.received.clear()
    visiting = await open_shopper(browser, example)
    yield visiting
    service.between.answers = [PASSES_ON]
    assert visiting.thrown == []


async def counts(service: Around) -> list[int]:
    return await stored(service.served.database_url, lambda store: store.read(shops.recorded))
