"""Search in a real browser: with the keyboard, while typing, and as a plain form without JavaScript."""

from playwright.async_api import expect

from tests.tracking_api.dashboard.pages.conftest import MAX, Site
from tests.tracking_api.dashboard.pages.test_every_page import violations_here


async def test_search_works_by_keyboard_and_without_javascript(site: Site, axe: str):
    await site.sell()
    page = await site.sign_in(bypass_csp=True)
    await page.goto(f"{site.program}/partners")

    await page.keyboard.press("Control+k")
    await page.keyboard.type("inv-1")
    found = page.locator(".suggestions a")
    await expect(found).to_contain_text("Credited")
    assert await violations_here(page, axe) == []
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Transaction inv-1")).to_be_visible()
    assert await violations_here(page, axe) == []
    await page.keyboard.press("Control+k")
    await page.keyboard.type("rotate key")
    await expect(found).to_contain_text("Program key")
    await page.keyboard.press("Escape")
    await expect(found).to_be_hidden()

    plain = await site.sign_in(MAX, java_script_enabled=False)
    await plain.goto(f"{site.program}/partners")
    await plain.get_by_role("searchbox", name="Search").fill("inv-404")
    await plain.get_by_role("searchbox", name="Search").press("Enter")
    await expect(plain.get_by_role("heading", name="This never arrived")).to_be_visible()
    await expect(plain.get_by_role("main")).to_contain_text("your server's last call was")
