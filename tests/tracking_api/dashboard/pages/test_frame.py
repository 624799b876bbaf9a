"""The frame of every page: the program switcher, the account menu, icons and the chosen theme."""

from playwright.async_api import Page, expect

from tests.tracking_api.dashboard.pages.conftest import Site
from tests.tracking_api.dashboard.pages.test_every_page import PHONE


async def ground(page: Page) -> str:
    colour: str = await page.evaluate("getComputedStyle(document.body).backgroundColor")
    return colour


async def test_axe_finds_nothing_in_the_open_menus(site: Site, axe: str):
    page = await site.sign_in(bypass_csp=True, viewport=PHONE)
    await page.goto(f"{site.program}/settings/workspace")
    found = []

    for menu in ("switch", "account"):
        await page.evaluate(f"document.querySelectorAll('.menu').forEach(each => each.open = each.matches('.{menu}'))")
        await page.evaluate(axe)
        result = await page.evaluate(f"axe.run('.{menu}', {{resultTypes: ['violations']}})")
        found += [each["id"] for each in result["violations"]]
        assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth"), menu

    assert found == []


async def test_a_chosen_theme_outranks_the_device_and_menus_close_with_escape(site: Site):
    page = await site.sign_in(color_scheme="light")
    light = await ground(page)
    await page.goto("/account")
    await page.get_by_label("Theme").select_option("dark")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("status")).to_be_visible()
    dark = await ground(page)
    await page.emulate_media(color_scheme="dark")
    await page.goto("/sign-in")

    assert (light, dark) == ("rgb(246, 247, 249)", "rgb(16, 18, 24)")
    assert await ground(page) == dark
    await page.goto(f"{site.program}/settings")
    summary = page.get_by_label("Account: ")
    await summary.click()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
    await expect(summary).to_be_focused()
    drawn = await page.locator(".side .icon").first.evaluate("each => each.getBBox().width > 0")
    assert drawn
