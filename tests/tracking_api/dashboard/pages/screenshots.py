"""Takes every page of the sample workspace at two widths into docs/screenshots: `make screenshots`.

With a folder it takes them whole, at four widths in both schemes, beside those of an empty program; names of pages
after the folder take these alone: `python -m tests.tracking_api.dashboard.pages.screenshots FOLDER [PAGE ...]`.
"""

import asyncio
import base64
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Browser, Page, ViewportSize

import storage
from cli.demo import sample
from storage import migrations
from storage.access import passwords
from tests import chromium, serving
from tests.tracking_api.authorization.consenting import CALLBACK, ask, fetch_tokens

FOLDER = Path(__file__).parents[4] / "docs" / "screenshots"
SHOP_WINDOW = Path(__file__).parents[4] / "tracking_api" / "dashboard" / "static"
PASSWORD = "a sample password"
SIZES: dict[str, ViewportSize] = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PAGES = {
    "programs": "/programs",
    "overview": "{program}",
    "new-program": "/programs/new",
    "customer": "{customer}",
    **{name: f"{{program}}/{name}" for name in ("explore", "partners", "customers", "commissions", "events")},
    **{name: f"{{program}}/{name}" for name in ("refused-calls", "settings")},
    **{name: f"{{program}}/settings/{name}" for name in ("api-keys", "checklist", "payments", "members", "audit-log")},
}
FURTHER = {  # that docs/screenshots has no picture of
    "partner": "{partner}",
    "commission": "{commission}",
    "review": "{program}/review",
    **{name: f"{{program}}/settings/{name}" for name in ("rates", "sandbox", "workspace", "agent-caps")},
    "account": "/account",
    "search": "/search?q=ledger",
    "device": "/device",
    "guides": "/docs",
    "guide": "/docs/integration",
    "missing": "/no-such-page",
}
PUBLIC = {"home": "/", "sign-in": "/sign-in", "forgotten-password": "/forgotten-password", "join": "/join/none"}
LISTS = {  # whose first row has the page
    "customer": "{program}/customers?status=conversion",
    "partner": "{program}/partners",
    "commission": "{program}/commissions?status=approved",
}
EMPTY = (
    *("overview", "explore", "partners", "customers", "commissions", "events", "refused-calls", "review"),
    *("api-keys", "checklist", "payments", "sandbox"),
)
WIDTHS = (390, 768, 1440, 1920)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


async def main(folder_to_review: str | None = None, *pages: str) -> None:
    """Serve the sample workspace for as long as the pictures take."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/svc.db"
        await migrations.upgrade(url)
        async with storage.opened(url) as store:
            made = await store.write(sample.create, password_hash=passwords.protect(PASSWORD), at=datetime.now(UTC))
        with serving.in_a_thread(url) as server:
            async with chromium.launched() as browser:
                if folder_to_review:
                    folder_to_fill = Path(folder_to_review)
                    await take_every_look(browser, server.base_url, made.programs[0][0], folder_to_fill, pages)
                else:
                    await take(browser, server.base_url, made.programs[0][0])


async def take(browser: Browser, base_url: str, program_id: int) -> None:
    """Take a picture of every page at each size."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, size in SIZES.items():
        context = await browser.new_context(base_url=base_url, viewport=size)
        page = await context.new_page()
        for title in ("home", "sign-in"):
            await picture(page, title, PUBLIC[title], name)
        paths = await _sign_in(page, program_id)
        for title in PAGES:
            await picture(page, title, paths[title], name)
        await connect(page, base_url, name)
        if name == "desktop":
            await fill_shop_window(page, f"/programs/{program_id}")
        await context.close()


async def take_every_look(browser: Browser, base_url: str, program_id: int, folder: Path, only: Sequence[str]) -> None:
    """Take whole pages at each width in each scheme, also those of a program without events."""
    page = await (await browser.new_context(base_url=base_url)).new_page()
    stranger = await (await browser.new_context(base_url=base_url)).new_page()
    addresses = {title: (stranger, path) for title, path in PUBLIC.items()}
    addresses |= {title: (page, path) for title, path in (await _sign_in(page, program_id)).items()}
    empty = await _create_program(page)
    addresses |= {f"empty-{title}": (page, (PAGES | FURTHER)[title].format(program=empty)) for title in EMPTY}
    addresses |= {"assistants": (page, "/assistants")}
    for title, (visited, path) in addresses.items():
        if only and title not in only:
            continue
        await visited.goto(path, wait_until="networkidle")
        for scheme in SCHEMES:
            await visited.emulate_media(color_scheme=scheme)
            for width in WIDTHS:
                await visited.set_viewport_size({"width": width, "height": 900})
                await visited.screenshot(path=folder / f"{title}-{width}-{scheme}.png", full_page=True)


async def _sign_in(page: Page, program_id: int) -> dict[str, str]:
    """Sign in as the owner, and return the address of each page."""
    await page.goto("/sign-in")
    await page.get_by_label("E-mail address").fill(sample.OWNER)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    named = {"program": f"/programs/{program_id}"}
    for name, path in LISTS.items():
        await page.goto(path.format(**named))
        named[name] = await page.locator("tbody a").first.get_attribute("href") or ""
    return {title: path.format(**named) for title, path in (PAGES | FURTHER).items()}


async def _create_program(page: Page) -> str:
    """Create a program without events, and return its path."""
    await page.goto("/programs/new")
    await page.get_by_label("Name").fill("Tidewater Coffee")
    await page.get_by_label("Domain").fill("tidewater.example")
    await page.get_by_role("button", name="Create").click()
    return "/".join(urlsplit(page.url).path.split("/")[:3])


async def fill_shop_window(page: Page, program: str) -> None:
    """Take the pictures of the home page: the overview in light and in dark, with its chart."""
    await page.set_viewport_size({"width": 1280, "height": 1080})
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)
        await picture(page, "overview", program, scheme, folder=SHOP_WINDOW)


async def connect(page: Page, base_url: str, size: str) -> None:
    """Take a picture of the consent page, and of the assistants once one is connected."""
    asked = await ask(base_url, client_name="Your assistant")
    await picture(page, "consent", asked.page, size)
    await page.get_by_role("checkbox").first.check()
    async with page.expect_request(lambda request: request.url.startswith(CALLBACK)) as leaving:
        await page.get_by_role("button", name="Connect").click()
    code = parse_qs(urlsplit((await leaving.value).url).query)["code"][0]
    await fetch_tokens(base_url, asked.client_id, code)
    await picture(page, "assistants", f"{base_url}/assistants", size)


async def picture(page: Page, title: str, path: str, size: str, *, folder: Path = FOLDER) -> None:
    """Take one picture, as WebP: a fifth of a PNG's size."""
    await page.goto(path, wait_until="networkidle")
    session = await page.context.new_cdp_session(page)
    taken = await session.send("Page.captureScreenshot", {"format": "webp", "quality": 70})
    (folder / f"{title}-{size}.webp").write_bytes(base64.b64decode(taken["data"]))
    await session.detach()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
