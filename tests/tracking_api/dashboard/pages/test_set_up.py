"""The first run in a real browser, as the README describes it: from the printed link to the first recorded click."""

from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize, expect

from storage.rules import keys
from tests.browser.scene import FIREFOX
from tests.cli.conftest import Svc
from tests.serving import Serve
from tests.tracking_api.dashboard.pages.conftest import OLGA, PASSWORD
from tests.tracking_api.dashboard.pages.test_every_page import violations, violations_here
from tests.tracking_api.dashboard.pages.test_journeys import Walk, documented

CODE = "set_the-code-that-was-printed"
TYPED = {
    "E-mail address": OLGA,
    "New password": PASSWORD,
    "New password again": PASSWORD,
    "Workspace": "Acme",
    "Program": "Acme partners",
    "Domain": "acme.example",
    "Partner": "Anna",
    "Code": "anna",
}


async def fill_in(page: Page, **others: str) -> None:
    for label, value in (TYPED | others).items():
        await page.get_by_label(label, exact=True).fill(value)
    await page.get_by_role("button", name="Set up").click()


async def test_the_printed_link_leads_to_the_first_recorded_click_without_a_terminal(tmp_path: Path, browser: Browser):
    with Svc(tmp_path).running("serve", "--port", 0) as server:
        assert server.stdout
        link = [server.stdout.readline() for _ in range(2)][1].split()[-1]
        context = await browser.new_context(user_agent=FIREFOX)
        page = await context.new_page()
        await page.goto(link)
        await fill_in(page)
        await expect(page.locator("#secret")).to_contain_text("SERVICE_PROGRAM_ID=1\nSERVICE_API_KEY=aff_1_")
        walk = Walk(page, clicks=1)  # Set up
        await walk.click(page.get_by_role("link", name="open the checklist"))
        await expect(page.get_by_role("heading", name="2 of 9 steps done")).to_be_visible()

        await walk.click(page.get_by_role("link", name="Open a sample page"))

        await expect(page.get_by_role("heading", name="4 of 9 steps done")).to_be_visible(timeout=30_000)
        assert await page.locator(".checklist li.done h3").count() == 4
        assert documented()["First run"] == (walk.clicks, walk.searches)
        await page.get_by_role("link", name="Events").click()
        await expect(page.locator("tbody tr")).to_contain_text(["anna"])


async def test_axe_finds_nothing_on_the_way(sqlite_url: str, serve: Serve, browser: Browser, axe: str):
    server = serve(sqlite_url, SVC_SET_UP_CODE_HASH=keys.digest(CODE))
    phone: ViewportSize = {"width": 390, "height": 844}
    context = await browser.new_context(base_url=server.base_url, viewport=phone, color_scheme="dark", bypass_csp=True)
    page = await context.new_page()

    found = [barrier for path in ("/", f"/set-up?code={CODE}") for barrier in await violations(page, axe, path)]
    await fill_in(page, Domain="https://")
    found += await violations_here(page, axe)
    await page.goto(f"/set-up?code={CODE}")
    await fill_in(page)
    await expect(page.get_by_role("heading", name="Your program key")).to_be_visible()
    found += await violations_here(page, axe)
    for path in ("/programs/1/settings/checklist", "/programs/1/sample-page"):
        found += await violations(page, axe, path)

    assert not found, "\n".join(found)
