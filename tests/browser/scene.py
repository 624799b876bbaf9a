"""A visitor with a real Chromium, a shop that includes the tracker, and the live service: two origins."""

import re
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.async_api import BrowserContext, ConsoleMessage, Page, Request

from storage.management import program_settings
from tests.browser.shop import Shop
from tests.serving import Served
from tests.test_journeys import stored
from tests.world import BY, World

GUIDE = (Path(__file__).parent.parent.parent / "presentation/guides/tracker.md").read_text(encoding="utf-8")
STUB = re.findall(r"```html stub\n(.*?)```", GUIDE, re.DOTALL)[0]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"  # headless Chromium's is a bot's


@dataclass
class Scene:
    """What a test acts in. `said` is what the console showed, `thrown` what a page threw, `calls` what was sent."""

    acme: World
    server: Served
    shop: Shop
    context: BrowserContext
    said: list[str] = field(default_factory=list)
    thrown: list[str] = field(default_factory=list)
    calls: list[Request] = field(default_factory=list)

    def tag(self, attributes: str = "data-svc-debug") -> str:
        """Return the script tag with these attributes beside the program's id."""
        source = f"{self.server.base_url}/js/svc-tracker.js"
        return f'<script src="{source}" data-svc-program-id="{self.acme.program_id}" {attributes}></script>'

    def show(self, body: str) -> None:
        self.shop.page = f"<!doctype html><html><head><title>Acme</title></head><body>{body}</body></html>"

    async def tab(self) -> Page:
        """Open an empty tab and watch it."""
        page = await self.context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.thrown.append(error.message))
        page.on("request", self._note)
        return page

    async def visit(self, path: str = "/", *, host: str = "127.0.0.1") -> Page:
        page = await self.tab()
        await page.goto(self.shop.url(path, host=host))
        return page

    async def arrive(self, code: str = "anna", *, host: str = "127.0.0.1") -> tuple[Page, str]:
        """Follow a partner's link in a new tab; return the page, and the click id that the visitor then carries."""
        page = await self.tab()
        click_id = await self.clicked(page, page.goto(self.shop.url(f"/?aff={code}", host=host)))
        return page, click_id

    async def include(self, page: Page) -> None:
        """Add the tracker to a page that is already there, and wait until it has run."""
        await page.evaluate(
            "tag => document.body.append(document.createRange().createContextualFragment(tag))", self.tag()
        )
        await page.wait_for_function("() => window.svc && window.svc.loaded")

    async def clicked(self, page: Page, doing: Awaitable[Any]) -> str:
        """Do something that makes the tracker record a click; return its id once the page carries it."""
        async with page.expect_response("**/api/v1/track/click") as caught:
            await doing
        click_id: str = (await (await caught.value).json())["click_id"]
        await page.wait_for_function("id => document.cookie.includes(id)", arg=click_id)
        return click_id

    async def change(self, **settings: Any) -> None:
        program_id = self.acme.program_id
        await stored(
            self.server.database_url, lambda store: store.write(program_settings.change, program_id, settings, by=BY)
        )

    async def prepare(self, page: Page) -> None:
        """Wait until the tracker has a hand-over token, which it fetches ahead of the click on a link."""
        async with page.expect_response("**/api/v1/track/handover?*"):
            await page.evaluate("svc.decorate('https://b.example/')")
        await page.wait_for_function("() => svc.decorate('https://b.example/').includes('svc_click_id=')")

    async def cookie(self) -> Any:
        found = [cookie for cookie in await self.context.cookies() if cookie["name"] == "svc_click_id"]
        assert len(found) <= 1
        return found[0] if found else {"value": None}

    def sent(self, call: str) -> list[Any]:
        """Return the bodies of the calls of a kind that pages sent."""
        return [request.post_data_json for request in self.calls if request.url.endswith(f"/track/{call}")]

    def _hear(self, message: ConsoleMessage) -> None:
        self.said.append(message.text)

    def _note(self, request: Request) -> None:
        if "/api/v1/track/" in request.url:
            self.calls.append(request)
