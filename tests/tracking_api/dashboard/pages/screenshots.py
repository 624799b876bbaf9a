"""Takes every page of the sample workspace at two widths into docs/screenshots: `make screenshots`."""

import asyncio
import base64
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Page, ViewportSize

import storage
from cli.demo import sample
from storage import migrations
from storage.engine.audit import OPERATOR, By
from storage.management import payouts
from tests import chromium, serving
from tests.tracking_api.authorization.consenting import CALLBACK, ask, fetch_tokens
from tests.tracking_api.dashboard.pages.conftest import Site
from tests.tracking_api.portal.test_journey import enter, invite
from tests.world import SEALER, World

FOLDER = Path(__file__).parents[4] / "docs" / "screenshots"
SHOP_WINDOW = Path(__file__).parents[4] / "tracking_api" / "dashboard" / "static"
SIZES: dict[str, ViewportSize] = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PAGES = {
    "programs": "/programs",
    "overview": "{program}",
    "new-program": "/programs/new",
    "customer": "{customer}",
    "partner": "{partner}",
    "payout": "{payout}",
    **{name: f"{{program}}/{name}" for name in ("explore", "partners", "customers", "commissions", "payouts")},
    **{name: f"{{program}}/{name}" for name in ("events", "plans", "applications")},
    **{name: f"{{program}}/{name}" for name in ("refused-calls", "settings")},
    **{name: f"{{program}}/settings/{name}" for name in ("api-keys", "checklist", "payments", "members", "audit-log")},
}

PORTAL = {
    "home": "",
    "links": "/links",
    "earnings": "/earnings",
    "missing-sale": "/missing-sale",
    "account": "/account",
}
# The lists with a link to a page.
FIRST = {
    "customer": ("customers?status=conversion", "tbody a"),
    "partner": ("partners", "tbody a"),
    "payout": ("payouts", "a.primary"),
}


async def main() -> None:
    """Serve the sample workspace for as long as the pictures take."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{folder}/svc.db"
        await migrations.upgrade(url)
        async with storage.opened(url, patient=True) as store, chromium.launched() as browser:
            by = By(OPERATOR, datetime.now(UTC))
            made = await store.write(sample.create, password_hash="", sealer=SEALER, at=by.at)
            workspace_id, [(program_id, _, key), *_], _ = made
            await store.write_in(program_id, payouts.draft, program_id, earned_until=by.at.date(), by=by)
            with serving.in_a_thread(url) as server:
                site = Site(World(store, workspace_id, 0, program_id, key, 0, 0), server, browser, [])
                for name, size in SIZES.items():
                    await take(site, name, size)


async def take(site: Site, name: str, size: ViewportSize) -> None:
    """Take a picture of every page at a size."""
    stranger, page = await site.visit(viewport=size), await site.sign_in(sample.OWNER, viewport=size)
    for title, path in (("home", "/"), ("sign-in", "/sign-in")):
        await picture(stranger, title, path, name)
    first = {title: await first_link(page, f"{site.program}/{path}", link) for title, (path, link) in FIRST.items()}
    for title, path in PAGES.items():
        await picture(page, title, path.format(program=site.program, **first), name)
    await page.goto(first["partner"])
    partner = await site.visit(viewport=size)
    await enter(partner, await invite(page))
    for title, path in PORTAL.items():
        await picture(partner, f"portal-{title}", f"/portal{path}", name)
    await connect(page, site.server.base_url, name)
    if name == "desktop":
        await fill_shop_window(page, site.program)


async def first_link(page: Page, path: str, link: str) -> str:
    """Return where the first such link of a page leads."""
    await page.goto(path)
    return await page.locator(link).first.get_attribute("href") or ""


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
    await page.route(f"{CALLBACK}*", lambda route: route.fulfill(body="Connected"))
    await page.get_by_role("button", name="Connect").click()
    await page.wait_for_url(f"{CALLBACK}*")
    code = parse_qs(urlsplit(page.url).query)["code"][0]
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
