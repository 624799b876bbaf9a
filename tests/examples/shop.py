"""An example shop that runs as a process, and a shopper with a real Chromium in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.async_api import Browser, BrowserContext, Page

from tests import processes
from tests.browser.scene import FIREFOX

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


class Example:
    """A shop at shop.example, which Chromium resolves to this machine."""

    def __init__(self, port: int, log: Path) -> None:
        self.port = port
        self._log = log

    def url(self, path: str = "/") -> str:
        """Return the URL of a page."""
        return f"http://shop.example:{self.port}{path}"

    @property
    def log(self) -> str:
        """What the shop's process has printed."""
        return self._log.read_text(encoding="utf-8", errors="replace")


@contextmanager
def running(command: list[str], ready: str, *, cwd: Path, log: Path, **environment: str) -> Iterator[Example]:
    """Run a shop, whose command has PORT in it, until the block ends; it prints `ready` when it listens."""
    with processes.running(command, ready, cwd=cwd, log=log, **environment) as port:
        yield Example(port, log)


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
        """Return the shopper's cookies."""
        return {str(each["name"]): str(each["value"]) for each in await self.context.cookies()}

    async def sign_up(self) -> str:
        """Create an account and return its id."""
        await self.page.goto(self.example.url("/register"))
        await self.page.fill("input[name=email]", "jane@example.com")
        await self.page.click("text=Sign up")
        await self.page.wait_for_selector("h1:has-text('Welcome')")
        return await self.page.inner_text("#user")

    async def pay(self) -> str:
        """Pay an invoice and return its id."""
        number = await self.page.locator(".invoice").count()
        await self.page.click("text=Pay")
        await self.page.locator(".invoice").nth(number).wait_for()
        return await self.page.locator(".invoice").nth(number).inner_text()

    async def refund(self) -> None:
        """Get a part of the first invoice back."""
        await self.page.click("text=Refund")
        await self.page.wait_for_selector("text=refunded")


async def shopper(browser: Browser, example: Example) -> Shopper:
    """Return a shopper who has not been to the shop."""
    context = await browser.new_context(user_agent=FIREFOX)
    return Shopper(example, context, await context.new_page())
