"""Takes every page of the sample workspace at two widths into docs/screenshots: `make screenshots`."""

import asyncio
import base64
import os
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Browser, Error, Page, ViewportSize

import storage
from cli.demo import sample
from storage import migrations
from storage.access import passwords
from tests import chromium, postgres
from tests.tracking_api.authorization.consenting import CALLBACK, ask, fetch_tokens

FOLDER = Path(__file__).parents[4] / "docs" / "screenshots"
SHOP_WINDOW = Path(__file__).parents[4] / "tracking_api" / "dashboard" / "static"
PASSWORD = "a sample password"
SIZES: dict[str, ViewportSize] = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PAGES = {
    "programs": "/programs",
    "overview": "{program}",
    "explore": "{program}/explore",
    "partners": "{program}/partners",
    "new-program": "/programs/new",
    "customers": "{program}/customers",
    "customer": "{customer}",
    "commissions": "{program}/commissions",
    "events": "{program}/events",
    "refused-calls": "{program}/refused-calls",
    "settings": "{program}/settings",
    "api-keys": "{program}/settings/api-keys",
    "checklist": "{program}/settings/checklist",
    "payments": "{program}/settings/payments",
    "members": "{program}/settings/members",
    "audit-log": "{program}/settings/audit-log",
}


async def main() -> None:
    """Serve the sample workspace for as long as the pictures take."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/svc.db"
        await migrations.upgrade(url)
        async with storage.opened(url) as store:
            made = await store.write(sample.create, password_hash=passwords.protect(PASSWORD), at=datetime.now(UTC))
        port = postgres.free_port()
        command = [sys.executable, "-m", "cli", "serve", "--port", str(port)]
        environment = os.environ | {"SVC_DATABASE_URL": url}
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:  # noqa: ASYNC220 - a script
            try:
                async with chromium.launched() as browser:
                    await take(browser, f"http://127.0.0.1:{port}", made.programs[0][0])
            finally:
                server.terminate()


async def take(browser: Browser, base_url: str, program_id: int) -> None:
    """Take a picture of every page at each size."""
    for name, size in SIZES.items():
        context = await browser.new_context(base_url=base_url, viewport=size)
        page = await context.new_page()
        await _reach(page)
        await picture(page, "home", "/", name)
        await picture(page, "sign-in", "/sign-in", name)
        await page.get_by_label("E-mail address").fill(sample.OWNER)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
        program = f"/programs/{program_id}"
        await page.goto(f"{program}/customers?status=conversion")
        customer = await page.locator("tbody a").last.get_attribute("href")
        for title, path in PAGES.items():
            await picture(page, title, path.format(program=program, customer=customer), name)
        await connect(page, base_url, name)
        if name == "desktop":
            await fill_shop_window(page, program)
        await context.close()


async def fill_shop_window(page: Page, program: str) -> None:
    """Take the pictures of the home page: the overview in light and in dark."""
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


async def _reach(page: Page) -> None:
    """Open the front page as soon as the server answers."""
    for _ in range(100):
        try:
            await page.goto("/")
        except Error:  # the server is starting; the last try speaks for itself
            await page.wait_for_timeout(100)
        else:
            return
    await page.goto("/")


if __name__ == "__main__":
    asyncio.run(main())
