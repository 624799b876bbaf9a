"""Takes every page of the sample workspace at two widths into docs/screenshots: `make screenshots`."""

import asyncio
import base64
import tempfile
from datetime import UTC, datetime
from pathlib import Path
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


async def main() -> None:
    """Serve the sample workspace for as long as the pictures take."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/svc.db"
        await migrations.upgrade(url)
        async with storage.opened(url, patient=True) as store:
            made = await store.write(sample.create, password_hash=passwords.protect(PASSWORD), at=datetime.now(UTC))
        with serving.in_a_thread(url) as server:
            async with chromium.launched() as browser:
                await take(browser, server.base_url, made.programs[0][0])


async def take(browser: Browser, base_url: str, program_id: int) -> None:
    """Take a picture of every page at each size."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, size in SIZES.items():
        context = await browser.new_context(base_url=base_url, viewport=size)
        page = await context.new_page()
        for title, path in (("home", "/"), ("sign-in", "/sign-in")):
            await picture(page, title, path, name)
        paths = await _sign_in(page, program_id)
        for title in PAGES:
            await picture(page, title, paths[title], name)
        await connect(page, base_url, name)
        if name == "desktop":
            await fill_shop_window(page, f"/programs/{program_id}")
        await context.close()


async def _sign_in(page: Page, program_id: int) -> dict[str, str]:
    """Sign in as the owner, and return the address of each page."""
    await page.goto("/sign-in")
    await page.get_by_label("E-mail address").fill(sample.OWNER)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in").click()
    named = {"program": f"/programs/{program_id}"}
    await page.goto(f"{named['program']}/customers?status=conversion")
    named["customer"] = await page.locator("tbody a").first.get_attribute("href") or ""
    return {title: path.format(**named) for title, path in PAGES.items()}


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
    asyncio.run(main())
