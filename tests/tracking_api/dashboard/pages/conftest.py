"""The dashboard in a real browser: a live server over a fresh database, Olga who owns Acme, Max who is a member."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.async_api import Browser, BrowserContext, Locator, Page, expect
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from storage.access import accounts, workspaces
from tests import serving, world
from tests.tables import table

OLGA, MAX = "olga@acme.example", "max@acme.example"
PASSWORD = "correct horse battery"
HASH = world.password_hash(PASSWORD)
VIOLATIONS = """axe.run(document, {resultTypes: ["violations"]})
    .then((found) => found.violations.map((each) => [each.id, each.nodes[0].html]))"""  # all results are 50 KB
JOURNEYS: dict[str, Any] = table("tracking_api/dashboard/pages/journeys.toml")
NODE = Path(__file__).parent / "node" / "node_modules"


@dataclass
class Site:
    """A running service, what is in it, and a browser; `said` is all that a page's console complained about."""

    acme: world.World
    server: serving.Served
    browser: Browser
    said: list[str]

    @property
    def program(self) -> str:
        return f"/programs/{self.acme.program_id}"

    async def visit(self, **options: Any) -> Page:
        """Open a separate browser at the home page, signed out."""
        context: BrowserContext = await self.browser.new_context(base_url=self.server.base_url, **options)
        context.set_default_timeout(15_000)
        page = await context.new_page()
        page.on("console", lambda message: self._hear(message.type, message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        return page

    async def sign_in(self, who: str = OLGA, **options: Any) -> Page:
        """Open a browser with a session, on the list of programs."""
        token = await self.acme.sign_in(await self.acme.store.read(accounts.find_id, who), datetime.now(UTC))
        page = await self.visit(**options)
        await page.context.add_cookies(
            [{"name": "svc_session", "value": token, "url": self.server.base_url, "httpOnly": True}]
        )
        await page.goto("/programs")
        return page

    async def sell(self, customer_key: str = "user-1", transaction_id: str = "inv-1") -> None:
        """Let a visitor follow Anna's link, sign up and pay 100.00."""
        now = datetime.now(UTC)
        await self.acme.customer(customer_key, at=now)
        await self.acme.sale(transaction_id, customer_key=customer_key, at=now)

    async def call(self, path: str, body: Any, key: str | None = None) -> httpx.Response:
        """Post to the tracking API as an integrator's server does."""
        headers = {"Authorization": f"Bearer {self.acme.key if key is None else key}"}
        async with httpx.AsyncClient(base_url=self.server.base_url, headers=headers, verify=serving.PLAIN) as client:
            return await client.post(path, json=body)

    def _hear(self, kind: str, text: str) -> None:
        if kind in {"error", "warning"} and "status of 4" not in text:  # a rejection that the test asked for
            self.said.append(text)


@dataclass
class Walk:
    """A visitor who begins on the program's overview, and how many clicks and searches they needed."""

    page: Page
    clicks: int = 0
    searches: int = 0

    async def click(self, what: Locator) -> None:
        await what.click()
        self.clicks += 1

    async def open(self, *titles: str) -> None:
        """Click a page of the program's menu, then what stands on it."""
        menu = self.page.get_by_role("navigation", name="Program", exact=True)
        await self.click(menu.get_by_role("link", name=titles[0]))
        for title in titles[1:]:
            await self.click(self.page.get_by_role("link", name=title))

    async def press(self, button: str) -> None:
        await self.click(self.page.get_by_role("button", name=button))

    async def take(self, steps: list[list[str]], axe: str = "") -> None:
        """Take steps of journeys.toml, which says what each verb does."""
        for verb, where, *said in steps:
            found = self.page.locator(where)
            acts: dict[str, Callable[[], Awaitable[Any]]] = {
                "click": partial(self.click, found),
                "undo": found.click,
                "search": partial(self._search, where),
                "press": partial(self._press, where.split()),
                "keys": partial(self.page.keyboard.type, where),
                "type": partial(found.fill, *said),
                "focus": found.focus,
                "tab": partial(self._tab, where, *said),
                "upload": partial(self._upload, found, *said),
                "axe": partial(self._look, axe),
                "hidden": expect(found).to_be_hidden,
                "see": partial(expect(found).to_contain_text, said if len(said) > 1 else "".join(said)),
            }
            await acts[verb]()

    async def _search(self, text: str) -> None:
        await self.take([["press", "Control+k"], ["keys", text], ["press", "Enter"]])
        self.searches += 1

    async def _press(self, keys: list[str]) -> None:
        for key in keys:
            await self.page.keyboard.press(key)

    async def _upload(self, where: Locator, name: str, content: str) -> None:
        await where.set_input_files({"name": name, "mimeType": "text/csv", "buffer": content.encode()})
        self.clicks += 1

    async def _look(self, axe: str) -> None:
        assert await violations_here(self.page, axe) == []

    async def _tab(self, where: str, most: str) -> None:
        """Move the focus on until it is where it is wanted."""
        stops = 0
        while not await self.page.evaluate("where => document.activeElement.matches(where)", where):
            await self.page.keyboard.press("Tab")
            stops += 1
            assert stops <= int(most)


async def violations_here(page: Page, axe: str) -> list[str]:
    """Return what axe-core finds on the open page, and whether the page is wider than the screen."""
    wide = await cut_off(page)
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(axe)
    return [f"{urlsplit(page.url).path}: {rule}: {html[:120]}" for rule, html in await page.evaluate(VIOLATIONS)] + wide


async def cut_off(page: Page) -> list[str]:
    """Return whether the page stays wider than the screen with all open that can be opened; a chart follows later."""
    await page.evaluate(
        "document.querySelectorAll('details').forEach((each) => { each.open = !each.matches('.pop, .menu'); })"
    )
    try:
        await page.wait_for_function("document.documentElement.scrollWidth <= innerWidth", timeout=3_000)
    except PlaywrightTimeoutError:
        return [f"{urlsplit(page.url).path}: wider than the screen"]
    return []


@pytest.fixture
async def site(acme: world.World, sqlite_url: str, serve: serving.Serve, browser: Browser) -> AsyncIterator[Site]:
    """Acme, served, and a browser to look at it; whatever the console complained about fails the test."""
    for email, role in ((OLGA, workspaces.Role.OWNER), (MAX, workspaces.Role.MEMBER)):
        await acme.join(email, role, password_hash=HASH, at=datetime.now(UTC))
    made = Site(acme, serve(sqlite_url), browser, [])
    yield made
    assert made.said == []


@pytest.fixture(scope="session")
def axe() -> str:
    return (NODE / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
